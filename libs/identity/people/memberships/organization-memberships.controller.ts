import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { badRequest, sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  identifiersBody,
  parseInclude,
  getListParameter,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  readRelated,
  getSlowReadCaller,
  resourceBody,
  type Document,
  type ListPage,
  type PageRequest,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { ReadRecorder } from '#api/reads';
import { MembershipOrganizations } from './membership-organizations.port.js';
import { MEMBERSHIP_STATUSES, type MembershipStatus } from './membership.js';
import { renderMembership } from './organization-memberships.document.js';
import { ChangeMembership } from './organization-memberships.commands.js';
import {
  listMemberships,
  listMembershipsOfTeam,
  findMembership,
  listOwnMemberships,
  type MembershipRow,
} from './organization-memberships.queries.js';
import type { PeopleRead } from '../reads.events.js';
import { renderTeam } from '../teams/teams.document.js';
import { loadTeamsById } from '../teams/teams.queries.js';
import { renderUser } from '../users/users.document.js';

export const invitationBody = resourceBody(
  'organization-memberships',
  z.object({ email: z.string() }),
  z.object({ teams: identifiersBody('teams').optional() }).optional(),
);

/** `scim_identity` is accepted and adds nothing, because no such resource exists in this API. */
export const MEMBERSHIP_INCLUDES = ['organization', 'scim_identity', 'teams', 'user'] as const;
type MembershipIncludes = ReadonlySet<(typeof MEMBERSHIP_INCLUDES)[number]> | null;

const INVITED: MembershipIncludes = new Set(['user']);

const parseStatus = (query: QueryOf): MembershipStatus | undefined => {
  const text = getParameter(query, 'filter[status]');
  if (!text) return undefined;
  const status = MEMBERSHIP_STATUSES.find((one) => one === text);
  if (!status) throw badRequest(`filter[status] can only be ${MEMBERSHIP_STATUSES.join(' or ')}`, 'filter[status]');
  return status;
};

@Controller('api/v2')
export class OrganizationMembershipsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
    private readonly organizations: MembershipOrganizations,
  ) {}

  @Get('organizations/:organization/organization-memberships')
  @ConfigureRoute({ filters: ['filter[status]', 'filter[email]'] })
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, MEMBERSHIP_INCLUDES);
    const page = parsePage(query);
    const filter = {
      search: getParameter(query, 'q'),
      status: parseStatus(query),
      emails: getListParameter(query, 'filter[email]'),
    };
    const listed = await listMemberships(this.database, actor, name, page, filter);
    await this.recordList(listed, null, actor);
    return this.page(listed, includes, { page, request, actor });
  }

  @Post('organizations/:organization/organization-memberships')
  async invite(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes, relationships } = parseBody(invitationBody, body).data;
    const teams = [...new Set((relationships?.teams?.data ?? []).map(({ id }) => id))];
    const input = { organization, email: attributes.email.trim(), teams, actor };
    const row = await this.bus.execute(new ChangeMembership('InviteMember', input));
    // go-tfe reads the invited user from the response, as with include=user.
    return renderDocument(renderMembership(row, actor), await this.loadIncluded([row], INVITED, actor));
  }

  /** Lists the members of a team. The routes that add and remove members are in teams.controller.ts. */
  @Get('teams/:id/relationships/organization-memberships')
  @ConfigureRoute({ filters: ['filter[status]'] })
  async listOfTeam(
    @Param('id') team: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, MEMBERSHIP_INCLUDES);
    const page = parsePage(query);
    const filter = { search: undefined, status: parseStatus(query), emails: [] };
    const listed = await listMembershipsOfTeam(this.database, actor, team, page, filter);
    await this.recordList(listed, team, actor);
    return this.page(listed, includes, { page, request, actor });
  }

  @Get('organization-memberships')
  async listOwn(
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, MEMBERSHIP_INCLUDES);
    const page = parsePage(query);
    return this.page(await listOwnMemberships(this.database, actor, page), includes, { page, request, actor });
  }

  @Get('organization-memberships/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, MEMBERSHIP_INCLUDES);
    const row = await findMembership(this.database, actor, id);
    return renderDocument(renderMembership(row, actor), await this.loadIncluded([row], includes, actor));
  }

  @Delete('organization-memberships/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeMembership('RemoveMembership', { id, actor }));
  }

  /** Invitations send no mail. The invited person accepts through the API. */
  @Post('organization-memberships/:id/actions/accept')
  @HttpCode(200)
  async accept(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await this.bus.execute(new ChangeMembership('AcceptMembership', { id, actor }));
    return renderDocument(renderMembership(row, actor));
  }

  private recordList(
    { rows, organization }: ListPage<MembershipRow> & { readonly organization: string },
    team: string | null,
    actor: Actor,
  ): Promise<void> {
    const data = { organization, team, count: rows.length };
    return this.reads.record<PeopleRead>(actor, organization, { type: 'PeopleListed', data });
  }

  private async page(
    { rows, total }: ListPage<MembershipRow>,
    includes: MembershipIncludes,
    { page, request, actor }: { readonly page: PageRequest; readonly request: FastifyRequest; readonly actor: Actor },
  ): Promise<Document> {
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(
      rows.map((row) => renderMembership(row, actor)),
      page,
      total,
      request.publicUrl,
      included,
    );
  }

  /** Users come with the rows of the memberships; teams and organizations need one more statement each. */
  private async loadIncluded(
    rows: readonly MembershipRow[],
    includes: MembershipIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const people = includes.has('user') ? rows.map(({ person }) => renderUser(person, actor)) : [];
    const teamIds = includes.has('teams') ? [...new Set(rows.flatMap(({ teams }) => teams))] : [];
    const teams = teamIds.length === 0 ? [] : await loadTeamsById(this.database, actor, teamIds);
    return [
      ...people,
      ...teams.map((team) => renderTeam(team, actor)),
      ...(includes.has('organization') ? await this.loadOrganizations(rows, actor) : []),
    ];
  }

  private loadOrganizations(rows: readonly MembershipRow[], actor: Actor): Promise<Resource[]> {
    const ids = [...new Set(rows.map(({ organization }) => organization))];
    const related = ids.length === 0 ? [] : [this.organizations.related(sql`${ids}::text[]`, actor)];
    return readRelated(this.database, related, getSlowReadCaller(actor, rows));
  }
}
