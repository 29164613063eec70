import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { hasSameName, unprocessable } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parseBody,
  parseInclude,
  parsePage,
  renderDocument,
  renderPage,
  resourceBody,
  storedOnly,
  text,
  unsupportedMember,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { renderRegistryModule } from './registry-modules.document.js';
import { ChangeRegistryModule } from './registry-modules.commands.js';
import { findModule, findModuleByPath, listModules, type ModulePath } from './registry-modules.queries.js';

export const createBody = resourceBody(
  'registry-modules',
  z.object({
    name: text(255),
    provider: text(255),
    namespace: text(255).nullish(),
    'registry-name': text(255).nullish(),
    'no-code': storedOnly(z.boolean()).nullish(),
  }),
);

export const updateBody = resourceBody(
  'registry-modules',
  z
    .object({
      'no-code': storedOnly(z.boolean()).nullish(),
      'vcs-repo': unsupportedMember('versions of modules are uploaded'),
      'test-config': unsupportedMember('the server runs no tests of modules'),
    })
    .optional(),
  z.object({ 'tag-bindings': unsupportedMember('modules have no tags') }).nullish(),
);

/** Modules never have any of these, so `include` adds nothing. */
export const INCLUDES = ['no_code_modules'] as const;

const checkRegistry = (
  organization: string,
  { namespace, 'registry-name': registryName }: z.infer<typeof createBody>['data']['attributes'],
): void => {
  if (registryName && registryName !== 'private')
    throw unprocessable(`Registry name must be private, got ${JSON.stringify(registryName)}`, 'registry-name');
  if (namespace && !hasSameName(namespace, organization))
    throw unprocessable(`Namespace of a private module must be the organization, ${organization}`, 'namespace');
};

const MODULES = 'organizations/:organization/registry-modules';

@Controller('api/v2')
export class RegistryModulesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get(MODULES)
  @ConfigureRoute({ filters: ['filter[registry_name]', 'filter[organization_name]', 'filter[provider]'] })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    parseInclude(query, INCLUDES);
    const { rows, total, pageSize } = await listModules(this.database, actor, organization, page, {
      search: getParameter(query, 'q'),
      registryName: getParameter(query, 'filter[registry_name]'),
      organizationName: getParameter(query, 'filter[organization_name]'),
      provider: getParameter(query, 'filter[provider]'),
    });
    const resources = rows.map((row) => renderRegistryModule(row, actor));
    return renderPage(resources, { ...page, size: pageSize }, total, request.publicUrl);
  }

  @Post(MODULES)
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data;
    checkRegistry(organization, attributes);
    const { name, provider, 'no-code': noCode } = attributes;
    const input = { organization, attributes: { name, provider, noCode: noCode ?? false }, actor };
    const row = await this.bus.execute(new ChangeRegistryModule('CreateRegistryModule', input));
    return renderDocument(renderRegistryModule(row, actor));
  }

  @Get('registry-modules/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    parseInclude(query, INCLUDES);
    return renderDocument(renderRegistryModule(await findModule(this.database, actor, id), actor));
  }

  @Get(`${MODULES}/:registryName/:namespace/:name/:provider`)
  async showByPath(
    @Param() path: ModulePath,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    parseInclude(query, INCLUDES);
    return renderDocument(renderRegistryModule(await findModuleByPath(this.database, actor, path), actor));
  }

  @Patch(`${MODULES}/:registryName/:namespace/:name/:provider`)
  async update(@Param() path: ModulePath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const noCode = parseBody(updateBody, body).data.attributes?.['no-code'] ?? undefined;
    const row = await this.bus.execute(new ChangeRegistryModule('UpdateRegistryModule', { path, noCode, actor }));
    return renderDocument(renderRegistryModule(row, actor));
  }

  @Delete(`${MODULES}/:registryName/:namespace/:name/:provider`)
  @HttpCode(204)
  async destroy(@Param() path: ModulePath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryModule('DeleteRegistryModule', { path, actor }));
  }

  @Delete(`${MODULES}/:registryName/:namespace/:name`)
  @HttpCode(204)
  async destroyAll(@Param() path: Omit<ModulePath, 'provider'>, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryModule('DeleteModulesByName', { path, actor }));
  }

  @Post('registry-modules/actions/delete/:organization/:name')
  @HttpCode(204)
  async destroyAllByAction(@Param() path: OldModulePath, @CurrentActor() actor: Actor): Promise<void> {
    await this.destroyAll(toModulePath(path), actor);
  }

  @Post('registry-modules/actions/delete/:organization/:name/:provider')
  @HttpCode(204)
  async destroyByAction(
    @Param() path: OldModulePath & Pick<ModulePath, 'provider'>,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.destroy(toModulePath(path), actor);
  }
}

/** Parameters of paths that old clients use. They have no namespace, because it is the organization. */
export type OldModulePath = Pick<ModulePath, 'organization' | 'name'>;

export const toModulePath = <P extends OldModulePath>(path: P): P & Pick<ModulePath, 'registryName' | 'namespace'> => ({
  ...path,
  registryName: 'private',
  namespace: path.organization,
});
