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
import { renderRegistryProviderPlatform } from './registry-provider-platforms.document.js';
import { listPlatforms, findPlatform, type PlatformPath } from './registry-provider-platforms.queries.js';
import { ChangeRegistryProviderVersion } from '../versions/registry-provider-versions.commands.js';
import type { VersionPath } from '../versions/registry-provider-versions.queries.js';
import { ReleaseLinks } from '../release-files/release.links.js';

/** Clients send either type. */
export const createBody = resourceBody(
  ['registry-provider-platforms', 'registry-provider-version-platforms'],
  z.object({ os: z.string(), arch: z.string(), filename: z.string(), shasum: z.string() }),
);

@Controller(
  'api/v2/organizations/:organization/registry-providers/:registryName/:namespace/:name/versions/:version/platforms',
)
export class RegistryProviderPlatformsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly links: ReleaseLinks,
  ) {}

  @Get()
  async list(
    @Param() path: VersionPath,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listPlatforms(this.database, actor, path, page);
    const resources = rows.map((row) => renderRegistryProviderPlatform(row, actor, this.links));
    return renderPage(resources, page, total, request.publicUrl);
  }

  @Post()
  async create(@Param() path: VersionPath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data;
    const row = await this.bus.execute(
      new ChangeRegistryProviderVersion('CreatePlatform', { path, attributes, actor }),
    );
    return renderDocument(renderRegistryProviderPlatform(row, actor, this.links));
  }

  @Get(':os/:arch')
  async show(@Param() path: PlatformPath, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await findPlatform(this.database, actor, path);
    return renderDocument(renderRegistryProviderPlatform(row, actor, this.links));
  }

  @Delete(':os/:arch')
  @HttpCode(204)
  async destroy(@Param() path: PlatformPath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryProviderVersion('DeletePlatform', { path, actor }));
  }
}
