import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { badRequest, notFound } from '#kernel';
import { Database } from '#event-store';
import {
  document,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  shownOf,
  toOne,
  typeOf,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { organizationIdFor } from './access.queries.js';
import { ACTOR_TYPE, contextOf, type Actor } from './actor.js';
import { CurrentActor } from './authenticate.guard.js';
import { DestroyToken, IssueToken, type IssuedToken, type NewToken } from './authentication-tokens.handler.js';
import { tokenById, tokensOf, type TokenRow } from './authentication-tokens.queries.js';
import { confirm } from './fresh.js';
import { demand, type Permission } from './permissions.js';
import type { TokenKind } from './authentication-token.js';
import { teamById, type TeamDetailsRow } from './teams.queries.js';
import { userById } from './users.queries.js';

const body = z.object({
  data: z
    .object({
      type: typeOf('authentication-tokens', 'authentication-token'),
      attributes: z
        .object({
          description: z.string().max(1_000).nullish(),
          'expired-at': z.iso.datetime({ offset: true, error: 'Expired at must be an ISO 8601 time' }).nullish(),
        })
        .default({}),
    })
    .default({ attributes: {} }),
});

const resource = (token: TokenRow | IssuedToken): Resource => {
  const createdBy = 'secret' in token ? token.createdBy : rowCreator(token);
  return {
    id: token.id,
    type: 'authentication-tokens',
    attributes: {
      'created-at': token.createdAt,
      'last-used-at': null,
      description: token.description,
      // Shown once, by the answer that created it; afterwards only its hash exists.
      token: 'secret' in token ? token.secret : null,
      'expired-at': token.expiredAt,
    },
    relationships: { 'created-by': createdBy ? toOne(createdBy.type, createdBy.id) : { data: null } },
  };
};

const rowCreator = ({ createdBy, createdByType }: TokenRow): { type: string; id: string } | null =>
  createdBy !== null && createdByType !== null ? { id: createdBy, type: createdByType } : null;

type Subject = Pick<NewToken, 'kind' | 'owner' | 'organization'>;

@Controller('api/v2')
export class AuthenticationTokensController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('users/:id/authentication-tokens')
  async listOfUser(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    await this.demandSelf(id, actor);
    const tokens = await tokensOf(this.database, id, 'user', actor);
    if (tokens.length === 0) await this.demandUser(id, actor);
    return pageDocument(shownOf(tokens, page).map(resource), page, tokens.length, request.url);
  }

  @Post('users/:id/authentication-tokens')
  async createOfUser(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    await this.demandSelf(id, actor);
    await this.demandUser(id, actor);
    return this.issue(input, { kind: 'user', owner: id, organization: null }, actor);
  }

  @Get('teams/:id/authentication-token')
  async showOfTeam(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const team = await this.teamFor(id, actor);
    return document(resource(await this.only(team.id, 'team', actor)));
  }

  @Post('teams/:id/authentication-token')
  async createOfTeam(@Param('id') id: string, @Body() input: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const team = await this.teamFor(id, actor);
    return this.replace(input, { kind: 'team', owner: team.id, organization: team.organization }, actor);
  }

  @Delete('teams/:id/authentication-token')
  @HttpCode(204)
  async destroyOfTeam(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    const team = await this.teamFor(id, actor);
    await this.destroy(await this.only(team.id, 'team', actor), actor);
  }

  @Get('organizations/:organization/authentication-token')
  async showOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const id = await organizationIdFor(this.database, name, 'manage-organization-tokens', actor);
    return document(resource(await this.only(id, organizationKind(query), actor)));
  }

  @Post('organizations/:organization/authentication-token')
  async createOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Body() input: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const id = await organizationIdFor(this.database, name, 'manage-organization-tokens', actor);
    return this.replace(input, { kind: organizationKind(query), owner: id, organization: id }, actor);
  }

  @Delete('organizations/:organization/authentication-token')
  @HttpCode(204)
  async destroyOfOrganization(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const id = await organizationIdFor(this.database, name, 'manage-organization-tokens', actor);
    await this.destroy(await this.only(id, organizationKind(query), actor), actor);
  }

  @Get('authentication-tokens/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(resource(await this.reachable(id, actor)));
  }

  @Delete('authentication-tokens/:id')
  @HttpCode(204)
  async destroyById(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.destroy(await this.reachable(id, actor), actor);
  }

  /** A person's tokens are their own business. */
  private async demandSelf(id: string, actor: Actor): Promise<void> {
    if (actor.kind === 'user' && (actor.id === id || actor.siteAdmin)) return;
    // No statement has asked yet whether the caller still is who they were.
    await confirm(this.database, actor);
    throw notFound();
  }

  private async demandUser(id: string, actor: Actor): Promise<void> {
    if (!(await userById(this.database, id, actor))) throw notFound();
  }

  private async teamFor(id: string, actor: Actor): Promise<TeamDetailsRow> {
    const team = await teamById(this.database, id, 'manage-team-tokens', actor);
    if (team.isOwners) demand(actor, 'manage-owners', team);
    return team;
  }

  private async reachable(id: string, actor: Actor): Promise<TokenRow> {
    const token = await tokenById(this.database, id, actor);
    if (!token) throw notFound();
    if (token.organization === null) await this.demandSelf(token.owner, actor);
    else demand(actor, permissionFor(token), { organization: token.organization });
    return token;
  }

  private async only(owner: string, kind: TokenKind, actor: Actor): Promise<TokenRow> {
    const [token] = await tokensOf(this.database, owner, kind, actor);
    if (!token) throw notFound();
    return token;
  }

  /** Teams and organizations have one token of a kind: a new one takes the place of the old. */
  private replace(input: unknown, subject: Subject, actor: Actor): Promise<Document> {
    return this.issue(input, subject, actor, true);
  }

  private async issue(input: unknown, subject: Subject, actor: Actor, onlyOne = false): Promise<Document> {
    const { attributes } = parseBody(body, input).data;
    const expiry = attributes['expired-at'];
    const token = {
      ...subject,
      // A team's only token has no name; those that have one are several.
      description: onlyOne && subject.kind === 'team' ? null : (attributes.description ?? null),
      createdBy: { type: ACTOR_TYPE[actor.kind], id: actor.id },
      expiredAt: expiry ? new Date(expiry).toISOString() : null,
    };
    const issued = await this.bus.execute(new IssueToken(token, contextOf(actor), onlyOne));
    // The event keeps the organization's stable id; documents know it by its name.
    const createdBy = actor.kind === 'organization' ? { ...token.createdBy, id: actor.name } : token.createdBy;
    return document(resource({ ...issued, createdBy }));
  }

  private async destroy(token: TokenRow, actor: Actor): Promise<void> {
    await this.bus.execute(new DestroyToken(token.id, token.organization, contextOf(actor)));
  }
}

const permissionFor = ({ kind, ofOwners }: TokenRow): Permission => {
  if (kind !== 'team') return 'manage-organization-tokens';
  return ofOwners ? 'manage-owners' : 'manage-team-tokens';
};

/** A word that is misspelt must not replace the token that runs everything. */
const organizationKind = (query: QueryOf): TokenKind => {
  const kind = parameter(query, 'token') || 'organization';
  if (kind !== 'organization' && kind !== 'audit-trails') throw badRequest('token can only be audit-trails', 'token');
  return kind;
};
