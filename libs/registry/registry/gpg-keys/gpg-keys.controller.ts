import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { hasSameName, unprocessable } from '#platform/kernel';
import { z } from 'zod';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  getListParameter,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  resourceBody,
  text,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ChangeGpgKey } from './gpg-keys.handler.js';
import { renderGpgKey } from './gpg-keys.document.js';
import { findGpgKey, listGpgKeys, type GpgKeyPath } from './gpg-keys.queries.js';

/** Largest accepted text, in characters. An RSA key of 4,096 bits with a dozen user ids and subkeys has 10,000. */
const armor = text(65_536);
export const createBody = resourceBody('gpg-keys', z.object({ namespace: text(255), 'ascii-armor': armor }));
export const updateBody = resourceBody(
  'gpg-keys',
  z
    .object({ namespace: text(255).optional(), 'ascii-armor': armor.optional() })
    .refine(({ namespace, 'ascii-armor': asciiArmor }) => namespace ?? asciiArmor, {
      error: "Namespace can't be blank",
      path: ['namespace'],
    }),
);

/**
 * Endpoints of the public keys that sign providers. Their paths start with the registry's own prefix, not with /api/v2.
 */
@Controller('api/registry/private/v2/gpg-keys')
export class GpgKeysController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @ConfigureRoute({ filters: ['filter[namespace]'] })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    requireParameter(query, 'filter[namespace]');
    const page = parsePage(query);
    const { rows, total } = await listGpgKeys(this.database, actor, getListParameter(query, 'filter[namespace]'), page);
    return renderPage(await Promise.all(rows.map(renderGpgKey)), page, total, request.publicUrl);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { namespace, 'ascii-armor': asciiArmor } = parseBody(createBody, body).data.attributes;
    const row = await this.bus.execute(new ChangeGpgKey('AddGpgKey', { namespace, asciiArmor, actor }));
    return renderDocument(await renderGpgKey(row));
  }

  @Get(':namespace/:keyId')
  async show(@Param() path: GpgKeyPath, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(await renderGpgKey(await findGpgKey(this.database, actor, 'read-providers', path)));
  }

  @Patch(':namespace/:keyId')
  async update(@Param() path: GpgKeyPath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { namespace = path.namespace, 'ascii-armor': asciiArmor } = parseBody(updateBody, body).data.attributes;
    if (asciiArmor !== undefined && !hasSameName(namespace, path.namespace)) {
      throw unprocessable(
        'Ascii armor cannot be replaced by a request that moves the key: send two requests',
        'ascii-armor',
      );
    }
    const row = await this.bus.execute(
      asciiArmor === undefined
        ? new ChangeGpgKey('MoveGpgKey', { path, namespace, actor })
        : new ChangeGpgKey('RenewGpgKey', { path, asciiArmor, actor }),
    );
    return renderDocument(await renderGpgKey(row));
  }

  @Delete(':namespace/:keyId')
  @HttpCode(204)
  async destroy(@Param() path: GpgKeyPath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeGpgKey('RemoveGpgKey', { path, actor }));
  }
}
