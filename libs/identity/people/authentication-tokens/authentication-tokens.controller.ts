import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { badRequest, Clock } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  renderList,
  parseSort,
  renderPage,
  parsePage,
  getParameter,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { LimitAccessChanges, RequireRecentSignIn, CurrentActor, type Actor } from '#api/access';
import { ReadRecorder } from '#api/reads';
import { agentBody, body, onlyTokenBody, parseToken, parseUserToken, teamBody } from './authentication-tokens.body.js';
import { renderAuthenticationToken } from './authentication-tokens.document.js';
import { ChangeAuthenticationToken, type TokenInput } from './authentication-tokens.handler.js';
import type { RestrictionInput } from './authentication-tokens.writes.js';
import {
  listTeamTokens,
  listTokens,
  TEAM_TOKEN_SORTS,
  findAuthenticationToken,
  SCIM_TOKENS,
  type TeamTokenFilter,
  type TokenOwner,
} from './authentication-tokens.queries.js';
import type { PeopleRead } from '../reads.events.js';

/** Clients cannot request the next page, so the default page is as large as possible. */
export const LIST_SIZE = 100;

/** Values of the query parameter `token`, the first one by default. */
export const ORGANIZATION_TOKENS = ['organization', 'audit-trails'] as const;

@Controller('api/v2')
export class AuthenticationTokensController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
    private readonly clock: Clock,
  ) {}

  @Get('users/:id/authentication-tokens')
  listOfUser(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ kind: 'user', key: id }, query, request, actor);
  }

  @Post('users/:id/authentication-tokens')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  createOfUser(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { token, restriction } = parseUserToken(input, this.clock.now());
    return this.issue({ kind: 'user', key: id }, token, actor, { restriction });
  }

  @Get('teams/:id/authentication-tokens')
  listOfTeam(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ kind: 'team', key: id }, query, request, actor);
  }

  @Post('teams/:id/authentication-tokens')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  createOfTeam(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.issue({ kind: 'team', key: id }, parseToken(teamBody, input, this.clock.now()), actor);
  }

  @Get('teams/:id/authentication-token')
  showOnlyOfTeam(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.renderToken({ kind: 'team', key: id }, actor);
  }

  /** Replaces the team's token without a description, which was the only one before teams could have several tokens. */
  @Post('teams/:id/authentication-token')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  replaceOfTeam(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.issue({ kind: 'team', key: id }, parseToken(onlyTokenBody, input, this.clock.now()), actor, {
      replaces: true,
    });
  }

  @Delete('teams/:id/authentication-token')
  @HttpCode(204)
  async destroyOnlyOfTeam(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.destroyToken({ kind: 'team', key: id }, actor);
  }

  @Get('organizations/:organization/team-tokens')
  listOfTeams(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const list = (page: PageRequest) => listTeamTokens(this.database, actor, name, page, parseTeamTokenFilter(query));
    return renderList(request, list, renderAuthenticationToken);
  }

  @Get('admin/scim-tokens')
  listOfScim(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return this.list(SCIM_TOKENS, query, request, actor);
  }

  @Post('admin/scim-tokens')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  createOfScim(@Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.issue(SCIM_TOKENS, parseToken(agentBody, input, this.clock.now()), actor);
  }

  @Get('agent-pools/:id/authentication-tokens')
  listOfAgentPool(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ kind: 'agent', key: id }, query, request, actor);
  }

  @Post('agent-pools/:id/authentication-tokens')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  createOfAgentPool(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.issue({ kind: 'agent', key: id }, parseToken(agentBody, input, this.clock.now()), actor);
  }

  @Get('organizations/:organization/authentication-token')
  showOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.renderToken({ kind: parseOrganizationKind(query), key: name }, actor);
  }

  @Post('organizations/:organization/authentication-token')
  @LimitAccessChanges()
  @RequireRecentSignIn()
  replaceOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Body() input: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const token = parseToken(body, input, this.clock.now());
    return this.issue({ kind: parseOrganizationKind(query), key: name }, token, actor, { replaces: true });
  }

  @Delete('organizations/:organization/authentication-token')
  @HttpCode(204)
  async destroyOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.destroyToken({ kind: parseOrganizationKind(query), key: name }, actor);
  }

  @Get('authentication-tokens/:id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.renderToken(id, actor);
  }

  @Delete('authentication-tokens/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.destroyToken(id, actor);
  }

  private async list(owner: TokenOwner, query: QueryOf, request: FastifyRequest, actor: Actor): Promise<Document> {
    const page = parsePage(query, LIST_SIZE);
    const { rows, total } = await listTokens(this.database, actor, owner, page);
    return renderPage(rows.map(renderAuthenticationToken), page, total, request.publicUrl);
  }

  private async renderToken(target: string | TokenOwner, actor: Actor): Promise<Document> {
    const row = await findAuthenticationToken(this.database, actor, target);
    const data = { token: row.id, kind: row.kind, owner: row.owner };
    // A user's own token belongs to no organization, so no audit trail records the read.
    await this.reads.record<PeopleRead>(actor, row.organization, { type: 'AuthenticationTokenShown', data });
    return renderDocument(renderAuthenticationToken(row));
  }

  private async issue(
    owner: TokenOwner,
    token: TokenInput,
    actor: Actor,
    options: { readonly replaces?: true; readonly restriction?: RestrictionInput } = {},
  ): Promise<Document> {
    const input = { owner, token, replaces: false, ...options, actor };
    const issued = await this.bus.execute(new ChangeAuthenticationToken('IssueToken', input));
    return renderDocument(renderAuthenticationToken(issued));
  }

  private destroyToken(target: string | TokenOwner, actor: Actor): Promise<void> {
    return this.bus.execute(new ChangeAuthenticationToken('DestroyToken', { target, actor }));
  }
}

/** Rejects unknown values: a typing error must not replace the organization's token. */
const parseOrganizationKind = (query: QueryOf): TokenOwner['kind'] => {
  const name = getParameter(query, 'token') || 'organization';
  const kind = ORGANIZATION_TOKENS.find((one) => one === name);
  if (!kind) throw badRequest('token can only be audit-trails', 'token');
  return kind;
};

/** By default, the tokens that expire first come first, as at the vendor. */
const parseTeamTokenFilter = (query: QueryOf): TeamTokenFilter => ({
  search: getParameter(query, 'q'),
  ...parseSort(query, TEAM_TOKEN_SORTS),
});
