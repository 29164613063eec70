import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { toAttributeName, notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  strictObject,
  renderDocument,
  omitUndefined,
  identifiersBody,
  parseInclude,
  storedOnly,
  getListParameter,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  unsupportedMember,
  resourceBody,
  fromAttributes,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
  LIST_BODY_BYTES,
  text,
} from '#api/json-api';
import { ConfigureRoute, CurrentActor, ORGANIZATION_ACCESS, type Actor, type OrganizationAccess } from '#api/access';
import { ReadRecorder } from '#api/reads';
import { renderMembership } from '../memberships/organization-memberships.document.js';
import { loadMembers } from '../memberships/organization-memberships.queries.js';
import type { PeopleRead } from '../reads.events.js';
import { checkTeam, VISIBILITIES, type TeamChanges } from './team.js';
import { renderTeam } from './teams.document.js';
import { ChangeTeam } from './teams.handler.js';
import { listTeams, findTeam, type MemberReferences, type TeamDetailsRow } from './teams.queries.js';
import { renderUser } from '../users/users.document.js';

const flag = z.boolean().optional();

/** Rights of features that do not exist. Teams store and show these rights, but they permit nothing. */
const STORED_ONLY_ACCESS: readonly (keyof OrganizationAccess)[] = ['delegatePolicyOverrides', 'manageModules'];

/** Rights of the vendor that no document shows. */
const UNSUPPORTED_ACCESS = {
  'manage-public-modules': unsupportedMember('a registry of modules is not built'),
  'manage-public-providers': unsupportedMember('the permission to manage providers covers all of them'),
  'manage-registry-artifact-tags': unsupportedMember('the permission to manage providers covers their tags'),
  'manage-registry-artifact-version-tags': unsupportedMember('versions of providers have no tags'),
  'manage-registry-components': unsupportedMember('stacks are not built'),
};

const organizationAccess: Readonly<Record<string, typeof flag | ReturnType<typeof unsupportedMember>>> = {
  ...Object.fromEntries(
    ORGANIZATION_ACCESS.map((access) => [
      toAttributeName(access),
      STORED_ONLY_ACCESS.includes(access) ? storedOnly(flag) : flag,
    ]),
  ),
  ...UNSUPPORTED_ACCESS,
};

const settings = {
  visibility: z.enum(VISIBILITIES).optional(),
  'sso-team-id': storedOnly(text(255).nullish()),
  'allow-member-token-management': z.boolean().optional(),
  description: unsupportedMember('teams have no description'),
  'organization-access': strictObject(organizationAccess).optional(),
};
export const createBody = resourceBody('teams', z.object({ name: z.string(), ...settings }));
export const updateBody = resourceBody('teams', z.object({ name: z.string().optional(), ...settings }).default({}));

/** Maximum number of members in one request: a team may contain a whole company. */
const MAX_MEMBERS = 5_000;

export const memberBodies = {
  users: identifiersBody('users', MAX_MEMBERS),
  'organization-memberships': identifiersBody('organization-memberships', MAX_MEMBERS),
} as const;

type TeamAttributes = z.infer<typeof updateBody>['data']['attributes'];

const toTeamChanges = (attributes: TeamAttributes): TeamChanges => {
  const { 'sso-team-id': ssoTeamId, 'organization-access': access, ...values } = attributes;
  return {
    ...fromAttributes(values),
    // Clients send an empty text to remove the id.
    ...omitUndefined({
      ssoTeamId: ssoTeamId === '' ? null : ssoTeamId,
      organizationAccess: access && fromAttributes(access),
    }),
  };
};

export const TEAM_INCLUDES = ['users', 'organization_memberships'] as const;
type TeamIncludes = ReadonlySet<(typeof TEAM_INCLUDES)[number]> | null;

@Controller('api/v2')
export class TeamsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly reads: ReadRecorder,
  ) {}

  @Get('organizations/:organization/teams')
  @ConfigureRoute({ filters: ['filter[names]'] })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, TEAM_INCLUDES);
    const page = parsePage(query);
    const filter = { names: getListParameter(query, 'filter[names]'), search: getParameter(query, 'q') };
    const { rows, total } = await listTeams(this.database, actor, organization, page, filter);
    const data = rows.map((team) => renderTeam(team, actor));
    return renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
  }

  @Post('organizations/:organization/teams')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(createBody, body, checkTeam).data;
    const data = { ...toTeamChanges(attributes), name: attributes.name };
    const row = await this.bus.execute(new ChangeTeam('CreateTeam', { organization, data, actor }));
    return renderDocument(renderTeam(row, actor));
  }

  @Get('teams/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, TEAM_INCLUDES);
    const row = await findTeam(this.database, actor, id);
    return renderDocument(renderTeam(row, actor), await this.loadIncluded([row], includes, actor));
  }

  @Patch('teams/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toTeamChanges(parseBody(updateBody, body, checkTeam).data.attributes);
    const row = await this.bus.execute(new ChangeTeam('UpdateTeam', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderTeam(row, actor));
  }

  @Delete('teams/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTeam('DeleteTeam', { id, actor }));
  }

  /** The ids in the body are usernames. */
  @Post('teams/:id/relationships/users')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  addUsers(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const members = parseNamedMembers(body, 'users');
    return this.bus.execute(new ChangeTeam('AddTeamMembers', { id, members, actor }));
  }

  @Delete('teams/:id/relationships/users')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  removeUsers(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const members = parseNamedMembers(body, 'users');
    return this.bus.execute(new ChangeTeam('RemoveTeamMembers', { id, members, actor }));
  }

  @Post('teams/:id/relationships/organization-memberships')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  addMemberships(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const members = parseNamedMembers(body, 'organization-memberships');
    return this.bus.execute(new ChangeTeam('AddTeamMembers', { id, members, actor }));
  }

  @Delete('teams/:id/relationships/organization-memberships')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  removeMemberships(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const members = parseNamedMembers(body, 'organization-memberships');
    return this.bus.execute(new ChangeTeam('RemoveTeamMembers', { id, members, actor }));
  }

  /** Returns the members of the teams as users and as memberships, with at most one more statement. */
  private async loadIncluded(
    teams: readonly TeamDetailsRow[],
    includes: TeamIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const [first] = teams;
    const ids = [...new Set(teams.flatMap(({ members }) => members))];
    if (!first || includes.size === 0 || ids.length === 0) return [];
    const members = await loadMembers(this.database, actor, first.organization, ids);
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
    const memberships = members.flatMap((member) => (member.id === null ? [] : [renderMembership(member, actor)]));
    return [
      ...(includes.has('users') ? members.map(({ person }) => renderUser(person, actor)) : []),
      ...(includes.has('organization_memberships') ? memberships : []),
    ];
  }
}

const parseNamedMembers = (body: unknown, by: MemberReferences['by']): MemberReferences => ({
  by,
  names: parseBody(memberBodies[by], body).data.map(({ id }) => id),
});
