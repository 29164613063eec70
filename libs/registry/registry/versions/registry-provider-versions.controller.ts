import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  renderPage,
  parsePage,
  parseBody,
  resourceBody,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { PROTOCOLS } from '#registry/provider-release/rules';
import { renderRegistryProviderVersion } from './registry-provider-versions.document.js';
import { ChangeRegistryProviderVersion } from './registry-provider-versions.commands.js';
import { listVersions, findVersion, type VersionPath } from './registry-provider-versions.queries.js';
import type { ProviderPath } from '../providers/registry-providers.queries.js';
import { ReleaseLinks } from '../release-files/release.links.js';

export const createBody = resourceBody(
  'registry-provider-versions',
  z.object({ version: z.string(), 'key-id': z.string(), protocols: z.array(z.enum(PROTOCOLS)).max(100).nullable() }),
);

@Controller('api/v2/organizations/:organization/registry-providers/:registryName/:namespace/:name/versions')
export class RegistryProviderVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly links: ReleaseLinks,
  ) {}

  @Get()
  async list(
    @Param() path: ProviderPath,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listVersions(this.database, actor, path, page);
    const resources = rows.map((row) => renderRegistryProviderVersion(row, actor, this.links));
    return renderPage(resources, page, total, request.publicUrl);
  }

  @Post()
  async create(@Param() path: ProviderPath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { version, 'key-id': keyId, protocols } = parseBody(createBody, body).data.attributes;
    const input = { path, attributes: { version, keyId, protocols }, actor };
    const row = await this.bus.execute(new ChangeRegistryProviderVersion('CreateVersion', input));
    return renderDocument(renderRegistryProviderVersion(row, actor, this.links));
  }

  @Get(':version')
  async show(@Param() path: VersionPath, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await findVersion(this.database, actor, path);
    return renderDocument(renderRegistryProviderVersion(row, actor, this.links));
  }

  @Delete(':version')
  @HttpCode(204)
  async destroy(@Param() path: VersionPath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryProviderVersion('DeleteVersion', { path, actor }));
  }
}
