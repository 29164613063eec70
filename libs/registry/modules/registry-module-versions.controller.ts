import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  requireParameter,
  resourceBody,
  text,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ModuleLinks } from './module.links.js';
import { renderRegistryModuleVersion } from './registry-modules.document.js';
import { toModulePath, type OldModulePath } from './registry-modules.controller.js';
import { ChangeRegistryModule } from './registry-modules.commands.js';
import { findModuleVersion, listModuleVersions, type ModulePath } from './registry-modules.queries.js';

export const createBody = resourceBody(
  'registry-module-versions',
  z.object({ version: text(255), 'commit-sha': text(255).nullish() }),
);

const MODULE = 'organizations/:organization/registry-modules/:registryName/:namespace/:name/:provider';

@Controller('api/v2')
export class RegistryModuleVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly links: ModuleLinks,
  ) {}

  @Get(`${MODULE}/versions`)
  async list(
    @Param() path: ModulePath,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listModuleVersions(this.database, actor, path, page);
    const resources = rows.map((row) => renderRegistryModuleVersion(row, actor, this.links));
    return renderPage(resources, page, total, request.publicUrl);
  }

  @Get(`${MODULE}/version`)
  async show(@Param() path: ModulePath, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const version = requireParameter(query, 'module_version');
    const row = await findModuleVersion(this.database, actor, path, version);
    return renderDocument(renderRegistryModuleVersion(row, actor, this.links));
  }

  @Post(`${MODULE}/versions`)
  async create(@Param() path: ModulePath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { version, 'commit-sha': commitSha } = parseBody(createBody, body).data.attributes;
    const input = { path, version, commitSha: commitSha || null, actor };
    const row = await this.bus.execute(new ChangeRegistryModule('CreateModuleVersion', input));
    return renderDocument(renderRegistryModuleVersion(row, actor, this.links));
  }

  @Post('registry-modules/:organization/:name/:provider/versions')
  createByOldPath(
    @Param() path: OldModulePath & Pick<ModulePath, 'provider'>,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create(toModulePath(path), body, actor);
  }

  @Delete(`${MODULE}/:version`)
  @HttpCode(204)
  async destroy(@Param() { version, ...path }: ModuleVersionPath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryModule('DeleteModuleVersion', { path, version, actor }));
  }

  @Post('registry-modules/actions/delete/:organization/:name/:provider/:version')
  @HttpCode(204)
  async destroyByAction(
    @Param() path: OldModulePath & Pick<ModuleVersionPath, 'provider' | 'version'>,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.destroy(toModulePath(path), actor);
  }
}

type ModuleVersionPath = ModulePath & { readonly version: string };
