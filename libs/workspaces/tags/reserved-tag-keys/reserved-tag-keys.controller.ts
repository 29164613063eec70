import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  ID,
  resourceBody,
  renderDocument,
  renderList,
  parseBody,
  omitNullish,
  fromAttributes,
  type Document,
} from '#api/json-api';
import { CurrentActor, type Actor } from '#api/access';
import { ChangeReservedTagKey } from './reserved-tag-keys.handler.js';
import { renderReservedTagKey } from './reserved-tag-keys.document.js';
import { listReservedTagKeys } from './reserved-tag-keys.view.js';

const TYPE = 'reserved-tag-keys';

const key = z.string();
const disableOverrides = { 'disable-overrides': z.boolean().nullish() };

export const createBody = resourceBody(TYPE, z.object({ key, ...disableOverrides }));
export const updateBody = resourceBody(TYPE, z.object({ key: key.optional(), ...disableOverrides }).default({}));

/** Body of a proposal: of a new reserved tag key, or with an id, of a change. */
export const previewBody = createBody.extend({ data: createBody.shape.data.extend({ id: ID.nullish() }) });

/** Some clients use one path, and some the other. */
const BY_ID = ['reserved-tags/:id', 'reserved-tag-keys/:id'];

@Controller('api/v2')
export class ReservedTagKeysController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/reserved-tag-keys')
  list(
    @Param('organization') name: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderList(request, (page) => listReservedTagKeys(this.database, actor, name, page), renderReservedTagKey);
  }

  @Post('organizations/:organization/reserved-tag-keys')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data;
    const data = { disableOverrides: false, ...fromAttributes(omitNullish(attributes)), key: attributes.key };
    const row = await this.bus.execute(new ChangeReservedTagKey('CreateReservedTagKey', { organization, data, actor }));
    return renderDocument(renderReservedTagKey(row));
  }

  @Patch(BY_ID)
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = fromAttributes(omitNullish(parseBody(updateBody, body).data.attributes));
    const row = await this.bus.execute(
      new ChangeReservedTagKey('UpdateReservedTagKey', { id, data: { changes }, actor }),
    );
    if (!row) throw notFound();
    return renderDocument(renderReservedTagKey(row));
  }

  @Delete(BY_ID)
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeReservedTagKey('DeleteReservedTagKey', { id, actor }));
  }
}
