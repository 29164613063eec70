import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound, sql, unprocessable } from '#platform/kernel';
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
import { ChangeOauthClient, type ClientSecrets } from './oauth-clients.handler.js';
import { findOauthClient, listOauthClients, type OauthClientRow } from './oauth-clients.view.js';

const url = text(2_000);
const NO_KEYS = 'only hosts that cannot be connected need it';
const NO_AGENTS = 'the server itself sends the requests to Git hosts';

const attributes = {
  name: text(255).nullish(),
  'organization-scoped': z.boolean().nullish(),
  'rsa-public-key': unsupportedMember(NO_KEYS),
  'private-key': unsupportedMember(NO_KEYS),
};

/** Tokens become headers of requests, and the others are parameters of OAuth. */
const visibleText = (most: number) =>
  text(most)
    .trim()
    .refine((value) => value !== '', "can't be blank")
    .refine((value) => /^[\x21-\x7e]*$/.test(value), 'must consist of visible ASCII characters, without spaces');

const credentials = {
  key: visibleText(255).nullish(),
  secret: visibleText(4_096).nullish(),
  'oauth-token-string': visibleText(4_096).nullish(),
};

/** Returns the credentials of a new connection: an access token, or the key and the secret of an OAuth application. */
const parseCredentials = ({
  key,
  secret,
  'oauth-token-string': tokenText,
}: z.infer<z.ZodObject<typeof credentials>>): ClientSecrets & { readonly key?: string } => {
  if (tokenText && !key && !secret) return { tokenText };
  if (!tokenText && key && secret) return { key, secret };
  throw unprocessable(
    'Oauth token string is required, or key and secret of an OAuth application of the Git host instead of it',
    'oauth-token-string',
  );
};

const relationships = z
  .object({ projects: toManyInput('projects'), 'agent-pool': unsupportedMember(NO_AGENTS) })
  .nullish();

export const createBody = resourceBody(
  'oauth-clients',
  z.object({
    ...attributes,
    ...credentials,
    'service-provider': text(255),
    'http-url': url,
    'api-url': url,
  }),
  relationships,
);

export const updateBody = resourceBody(
  'oauth-clients',
  z.object({ ...attributes, ...credentials }).default({}),
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
    const data = rows.map((row) => renderOauthClient(row, request.publicUrl));
    return renderPage(data, page, total, request.publicUrl, included);
  }

  @Post('organizations/:organization/oauth-clients')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Req() { publicUrl }: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes: input, relationships: related } = parseBody(createBody, body).data;
    const { key, ...secrets } = parseCredentials(input);
    const settings = {
      name: input.name ?? null,
      serviceProvider: input['service-provider'],
      httpUrl: trimUrl(input['http-url']),
      apiUrl: trimUrl(input['api-url']),
      organizationScoped: input['organization-scoped'] ?? true,
      projects: [...(parseToMany(related?.projects) ?? [])],
      ...(key !== undefined && { key }),
    };
    const row = await this.bus.execute(
      new ChangeOauthClient('CreateOauthClient', { organization, settings, secrets, actor }),
    );
    return renderDocument(renderOauthClient(row, publicUrl));
  }

  @Get('oauth-clients/:id')
  async show(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() { publicUrl }: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, INCLUDES);
    const row = await findOauthClient(this.database, actor, 'read-vcs-connections', id);
    return renderDocument(renderOauthClient(row, publicUrl), await this.loadIncluded([row], includes, actor));
  }

  @Patch('oauth-clients/:id')
  async update(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() { publicUrl }: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes: input, relationships: related } = parseBody(updateBody, body).data;
    const changes = omitUndefined({
      name: input.name,
      organizationScoped: input['organization-scoped'] ?? undefined,
      projects: parseToMany(related?.projects),
      key: input.key ?? undefined,
    });
    const secrets = omitUndefined({
      tokenText: input['oauth-token-string'] ?? undefined,
      secret: input.secret ?? undefined,
    });
    const row = await this.bus.execute(new ChangeOauthClient('UpdateOauthClient', { id, changes, secrets, actor }));
    if (!row) throw notFound();
    return renderDocument(renderOauthClient(row, publicUrl));
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
