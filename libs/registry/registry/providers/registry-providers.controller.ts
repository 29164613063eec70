import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { runAllChecks, sql, unprocessable } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  readRelated,
  resourceBody,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
  text,
} from '#api/json-api';
import { toBindings, tagBindingsInput } from '#organizations/tag-bindings';
import { ChangeRegistryProvider } from './registry-providers.handler.js';
import { selectRelatedVersions } from '../versions/registry-provider-versions.related.js';
import { renderProviderBindings, renderRegistryProvider } from './registry-providers.document.js';
import {
  listRegistryProviders,
  findRegistryProviderByPath,
  findRegistryProvider,
  type ProviderPath,
  type RegistryProviderRow,
} from './registry-providers.queries.js';
import { ReleaseLinks } from '../release-files/release.links.js';

export const createBody = resourceBody(
  'registry-providers',
  z.object({ name: text(255), namespace: text(255), 'registry-name': text(255) }),
);

export const updateBody = resourceBody(
  'registry-providers',
  z.unknown().optional(),
  z.object({ 'tag-bindings': tagBindingsInput }).nullish(),
);

const REGISTRIES = ['private', 'public'];

/** Rejects a blank name with two errors, because clients show both. */
const checkRegistryName = (name: string): void =>
  runAllChecks(
    () => checkNamePresent(name),
    () => checkRegistryExists(name),
  );

const checkNamePresent = (name: string): void => {
  if (name === '') throw unprocessable("Registry name can't be blank", 'registry-name');
};

const checkRegistryExists = (name: string): void => {
  if (!REGISTRIES.includes(name)) throw unprocessable('Registry name is not included in the list', 'registry-name');
};

export const INCLUDES = ['registry_provider_versions'] as const;
const includesVersions = (query: QueryOf): boolean =>
  parseInclude(query, INCLUDES)?.has('registry_provider_versions') ?? false;

@Controller('api/v2')
export class RegistryProvidersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly links: ReleaseLinks,
  ) {}

  @Get('organizations/:organization/registry-providers')
  @ConfigureRoute({ filters: ['filter[registry_name]', 'filter[organization_name]'] })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const withVersions = includesVersions(query);
    const filter = {
      search: getParameter(query, 'q'),
      registryName: getParameter(query, 'filter[registry_name]'),
      organizationName: getParameter(query, 'filter[organization_name]'),
    };
    const { rows, total, pageSize } = await listRegistryProviders(
      this.database,
      actor,
      organization,
      page,
      filter,
      withVersions,
    );
    const resources = rows.map((row) => renderRegistryProvider(row, actor));
    const included = withVersions ? await this.readVersions(rows, actor) : undefined;
    return renderPage(resources, { ...page, size: pageSize }, total, request.publicUrl, included);
  }

  @Post('organizations/:organization/registry-providers')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { name, namespace, 'registry-name': registryName } = parseBody(createBody, body).data.attributes;
    checkRegistryName(registryName);
    const names = { registryName, namespace, name };
    const row = await this.bus.execute(
      new ChangeRegistryProvider('CreateRegistryProvider', { organization, names, actor }),
    );
    return renderDocument(renderRegistryProvider(row, actor));
  }

  @Get('organizations/:organization/registry-providers/:registryName/:namespace/:name')
  async showByPath(
    @Param() path: ProviderPath,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.renderWithVersions(() => findRegistryProviderByPath(this.database, actor, path), query, actor);
  }

  @Get('registry-providers/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.renderWithVersions(() => findRegistryProvider(this.database, actor, id), query, actor);
  }

  /** Only the tags of a provider can change. */
  @Patch('organizations/:organization/registry-providers/:registryName/:namespace/:name')
  async update(@Param() path: ProviderPath, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const bindings = toBindings(parseBody(updateBody, body).data.relationships?.['tag-bindings']);
    const row = await this.bus.execute(new ChangeRegistryProvider('TagRegistryProvider', { path, bindings, actor }));
    return renderDocument(renderRegistryProvider(row, actor));
  }

  /** Returns all tags, because go-tfe does not follow pages here. */
  @Get('registry-providers/:id/tag-bindings')
  async tagBindings(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderProviderBindings(await findRegistryProvider(this.database, actor, id)));
  }

  @Delete('organizations/:organization/registry-providers/:registryName/:namespace/:name')
  @HttpCode(204)
  async destroy(@Param() path: ProviderPath, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRegistryProvider('DeleteRegistryProvider', { path, actor }));
  }

  private async renderWithVersions(
    find: () => Promise<RegistryProviderRow>,
    query: QueryOf,
    actor: Actor,
  ): Promise<Document> {
    const withVersions = includesVersions(query);
    const row = await find();
    const included = withVersions ? await this.readVersions([row], actor) : undefined;
    return renderDocument(renderRegistryProvider(row, actor), included);
  }

  private readVersions(rows: readonly RegistryProviderRow[], actor: Actor): Promise<Resource[]> {
    const ids = rows.flatMap(({ versions }) => versions);
    return readRelated(
      this.database,
      ids.length > 0 ? [selectRelatedVersions(sql`${ids}::text[]`, actor, this.links)] : [],
      actor,
    );
  }
}
