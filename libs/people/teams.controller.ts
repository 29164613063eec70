import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { attributeOf, notFound } from '#kernel';
import { Database } from '#event-store';
import {
  closedMap,
  document,
  given,
  identifiersBody,
  includesOf,
  kept,
  listOf,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  refused,
  resourceBody,
  valuesOf,
  type Document,
  type Query as QueryOf,
  type Resource,
  LIST_BODY_BYTES,
  text,
} from '#json-api';
import { ConfigureRoute, CurrentActor, ORGANIZATION_ACCESS, type Actor, type OrganizationAccess } from '#access';
import { Reads } from '#reads';
import { membershipResource } from './organization-memberships.document.js';
import { membersOf } from './organization-memberships.queries.js';
import type { PeopleRead } from './reads.events.js';
import { checkTeam, VISIBILITIES, type TeamChanges } from './team.js';
import { teamResource } from './teams.document.js';
import { ChangeTeamMembers, CreateTeam, ToTeam } from './teams.handler.js';
import { listTeams, teamFor, type NamedMembers, type TeamDetailsRow } from './teams.queries.js';
import { userResource } from './users.document.js';

const flag = z.boolean().optional();

/** Rights to what is not built: a team is shown with them, and they allow nothing. */
const KEPT_ACCESS: readonly (keyof OrganizationAccess)[] = [
  'delegatePolicyOverrides',
  'manageModules',
  'managePolicies',
  'managePolicyOverrides',
  'manageRunTasks',
];

/** Rights that the vendor has and that no document here shows. */
const REFUSED_ACCESS = {
  'manage-public-modules': refused('a registry of modules is not built'),
  'manage-public-providers': refused('those who manage providers manage all of them'),
  'manage-registry-artifact-tags': refused('those who manage providers manage their tags'),
  'manage-registry-artifact-version-tags': refused('versions of providers have no tags'),
  'manage-registry-components': refused('stacks are not built'),
};

const organizationAccess: Readonly<Record<string, typeof flag | ReturnType<typeof refused>>> = {
  ...Object.fromEntries(
    ORGANIZATION_ACCESS.map((access) => [attributeOf(access), KEPT_ACCESS.includes(access) ? kept(flag) : flag]),
  ),
  ...REFUSED_ACCESS,
};

const settings = {
  visibility: z.enum(VISIBILITIES).optional(),
  'sso-team-id': kept(text(255).nullish()),
  'allow-member-token-management': z.boolean().optional(),
  description: refused('teams have no description'),
  'organization-access': closedMap(organizationAccess).optional(),
};
export const createBody = resourceBody('teams', z.object({ name: z.string(), ...settings }));
export const updateBody = resourceBody('teams', z.object({ name: z.string().optional(), ...settings }).default({}));

/** A team may have a whole company in it. */
const MEMBERS_AT_MOST = 5_000;

export const memberBodies = {
  users: identifiersBody('users', MEMBERS_AT_MOST),
  'organization-memberships': identifiersBody('organization-memberships', MEMBERS_AT_MOST),
} as const;

type Attributes = z.infer<typeof updateBody>['data']['attributes'];

/** What a request changes, in our names. */
const changesOf = (attributes: Attributes): TeamChanges => {
  const { 'sso-team-id': ssoTeamId, 'organization-access': access, ...values } = attributes;
  return {
    ...valuesOf(values),
    // An empty id is none: so clients take it away.
    ...given({ ssoTeamId: ssoTeamId === '' ? null : ssoTeamId, organizationAccess: access && valuesOf(access) }),
  };
};

const INCLUDES = ['users', 'organization_memberships'] as const;
type Includes = ReadonlySet<(typeof INCLUDES)[number]> | null;

@Controller('api/v2')
export class TeamsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: Reads,
  ) {}

  @Get('organizations/:organization/teams')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const page = pageOf(query);
    const filter = { names: listOf(query, 'filter[names]'), search: parameter(query, 'q') };
    const { rows, total } = await listTeams(this.database, actor, organization, page, filter);
    const data = rows.map((team) => teamResource(team, actor));
    return pageDocument(data, page, total, request.url, await this.included(rows, includes, actor));
  }

  @Post('organizations/:organization/teams')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(createBody, body, checkTeam).data;
    const data = { ...changesOf(attributes), name: attributes.name };
    return document(teamResource(await this.bus.execute(new CreateTeam(organization, data, actor)), actor));
  }

  @Get('teams/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = includesOf(query, INCLUDES);
    const row = await teamFor(this.database, actor, id);
    return document(teamResource(row, actor), await this.included([row], includes, actor));
  }

  @Patch('teams/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = changesOf(parseBody(updateBody, body, checkTeam).data.attributes);
    const row = await this.bus.execute(new ToTeam(id, { type: 'UpdateTeam', data: { changes } }, actor));
    if (!row) throw notFound();
    return document(teamResource(row, actor));
  }

  @Delete('teams/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ToTeam(id, { type: 'DeleteTeam' }, actor));
  }

  /** People are named by their usernames here, which stand where JSON:API has ids. */
  @Post('teams/:id/relationships/users')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  addUsers(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.bus.execute(new ChangeTeamMembers(id, 'AddTeamMembers', namedIn(body, 'users'), actor));
  }

  @Delete('teams/:id/relationships/users')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  removeUsers(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    return this.bus.execute(new ChangeTeamMembers(id, 'RemoveTeamMembers', namedIn(body, 'users'), actor));
  }

  @Post('teams/:id/relationships/organization-memberships')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  addMemberships(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const named = namedIn(body, 'organization-memberships');
    return this.bus.execute(new ChangeTeamMembers(id, 'AddTeamMembers', named, actor));
  }

  @Delete('teams/:id/relationships/organization-memberships')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  removeMemberships(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const named = namedIn(body, 'organization-memberships');
    return this.bus.execute(new ChangeTeamMembers(id, 'RemoveTeamMembers', named, actor));
  }

  /** Members of the teams, both as people and as what they are in the organization: one more statement at the most. */
  private async included(
    teams: readonly TeamDetailsRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const [first] = teams;
    const ids = [...new Set(teams.flatMap(({ members }) => members))];
    if (!first || includes.size === 0 || ids.length === 0) return [];
    const members = await membersOf(this.database, actor, first.organization, ids);
    const listed = teams.map(({ id, members: { length } }) => ({
      organization: first.organization,
      team: id,
      count: length,
    }));
    await this.reads.record<PeopleRead>(
      actor,
      first.organization,
      ...listed.map((data) => ({ type: 'PeopleListed', data }) as const),
    );
    const memberships = members.flatMap((member) => (member.id === null ? [] : [membershipResource(member)]));
    return [
      ...(includes.has('users') ? members.map(({ person }) => userResource(person, actor)) : []),
      ...(includes.has('organization_memberships') ? memberships : []),
    ];
  }
}

const namedIn = (body: unknown, by: NamedMembers['by']): NamedMembers => ({
  by,
  names: parseBody(memberBodies[by], body).data.map(({ id }) => id),
});
