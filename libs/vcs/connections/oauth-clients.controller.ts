import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound, sql } from '#platform/kernel';
import {
  identifiersBody,
  MAX_PAGE_SIZE,
  omitUndefined,
  parseBody,
  parseInclude,
  parsePage,
  parseToMany,
  readRelated,
  renderDocument,
  renderPage,
  resourceBody,
  text,
  toManyInput,
  unsupportedMember,
  type Document,
  type QueryParameters,
  type Resource,
} from '#api/json-api';
import { selectRelatedProjects } from '#organizations/organizations';
import { hasToken, renderOauthClient, renderOauthToken } from './oauth-clients.document.js';
import { ChangeOauthClient } from './oauth-clients.handler.js';
import { findOauthClient, listOauthClients, type OauthClientRow } from './oauth-clients.view.js';

const url = text(2_000);
const NO_FLOW = 'connections have a personal access token of the Git host (oauth-token-string)';
const NO_AGENTS = 'the server itself sends the requests to Git hosts';

const attributes = {
  name: text(255).nullish(),
  'organization-scoped': z.boolean().nullish(),
  key: unsupportedMember(NO_FLOW),
  secret: unsupportedMember(NO_FLOW),
  'rsa-public-key': unsupportedMember(NO_FLOW),
  'private-key': unsupportedMember(NO_FLOW),
};

/** The token becomes a header of requests. */
const token = text(4_096)
  .trim()
  .refine((value) => value !== '', "can't be blank")
  .refine((value) => /^[\x21-\x7e]*$/.test(value), 'must consist of visible ASCII characters, without spaces');

const relationships = z
  .object({ projects: toManyInput('projects'), 'agent-pool': unsupportedMember(NO_AGENTS) })
  .nullish();

export const createBody = resourceBody(
  'oauth-clients',
  z.object({
    ...attributes,
    'service-provider': text(255),
    'http-url': url,
    'api-url': url,
    'oauth-token-string': token,
  }),
  relationships,
);

export const updateBody = resourceBody(
  'oauth-clients',
  z.object({ ...attributes, 'oauth-token-string': token.nullish() }).default({}),
  relationships,
);

export const projectsBody = identifiersBody('projects');

export const INCLUDES = ['oauth_tokens', 'projects'] as const;

const trimUrl = (address: string): string => address.replace(/\/$/, '');

@Controller('api/v2')
export class OauthClientsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/oauth-clients')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    // Clients that request no page expect all clients in one response.
    const page = parsePage(query, MAX_PAGE_SIZE);
    const { rows, total } = await listOauthClients(this.database, actor, organization, page);
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderOauthClient), page, total, request.publicUrl, included);
  }

  @Post('organizations/:organization/oauth-clients')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes: input, relationships: related } = parseBody(createBody, body).data;
    const settings = {
      name: input.name ?? null,
      serviceProvider: input['service-provider'],
      httpUrl: trimUrl(input['http-url']),
      apiUrl: trimUrl(input['api-url']),
      organizationScoped: input['organization-scoped'] ?? true,
      projects: [...(parseToMany(related?.projects) ?? [])],
    };
    const tokenText = input['oauth-token-string'];
    const row = await this.bus.execute(
      new ChangeOauthClient('CreateOauthClient', { organization, settings, tokenText, actor }),
    );
    return renderDocument(renderOauthClient(row));
  }

  @Get('oauth-clients/:id')
  async show(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const row = await findOauthClient(this.database, actor, 'read-vcs-connections', id);
    return renderDocument(renderOauthClient(row), await this.loadIncluded([row], includes, actor));
  }

  @Patch('oauth-clients/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes: input, relationships: related } = parseBody(updateBody, body).data;
    const changes = omitUndefined({
      name: input.name,
      organizationScoped: input['organization-scoped'] ?? undefined,
      projects: parseToMany(related?.projects),
    });
    const tokenText = input['oauth-token-string'] ?? null;
    const row = await this.bus.execute(new ChangeOauthClient('UpdateOauthClient', { id, changes, tokenText, actor }));
    if (!row) throw notFound();
    return renderDocument(renderOauthClient(row));
  }

  @Delete('oauth-clients/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOauthClient('DestroyOauthClient', { id, actor }));
  }

  @Post('oauth-clients/:id/relationships/projects')
  @HttpCode(204)
  async addProjects(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const projects = parseBody(projectsBody, body).data.map((one) => one.id);
    await this.bus.execute(new ChangeOauthClient('AddClientProjects', { id, projects, actor }));
  }

  @Delete('oauth-clients/:id/relationships/projects')
  @HttpCode(204)
  async removeProjects(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const projects = parseBody(projectsBody, body).data.map((one) => one.id);
    await this.bus.execute(new ChangeOauthClient('RemoveClientProjects', { id, projects, actor }));
  }

  private async loadIncluded(
    rows: readonly OauthClientRow[],
    includes: ReadonlySet<(typeof INCLUDES)[number]> | null,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (includes === null) return undefined;
    const tokens = includes.has('oauth_tokens') ? rows.filter(hasToken).map(renderOauthToken) : [];
    const ids = includes.has('projects') ? rows.flatMap(({ projects }) => projects) : [];
    const related = ids.length > 0 ? [selectRelatedProjects(sql`${ids}::text[]`, actor)] : [];
    return [...tokens, ...(await readRelated(this.database, related, actor))];
  }
}
