import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Database } from '#event-store';
import {
  attributesOf,
  document,
  pageDocument,
  pageOf,
  parameter,
  shownOf,
  toMany,
  toOne,
  linkTo,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import type { Actor } from './actor.js';
import { CurrentActor } from './authenticate.guard.js';
import { may } from './permissions.js';
import { teamById, teamsOf, type TeamDetailsRow } from './teams.queries.js';

export const teamResource = (team: TeamDetailsRow, actor: Actor): Resource => ({
  id: team.id,
  type: 'teams',
  attributes: {
    name: team.name,
    'sso-team-id': null,
    'users-count': team.members.length,
    visibility: team.visibility,
    'allow-member-token-management': true,
    'organization-access': attributesOf(team.organizationAccess),
    permissions: {
      'can-update-membership': false,
      'can-destroy': false,
      'can-update-organization-access': false,
      'can-update-api-token': may(actor, team.isOwners ? 'manage-owners' : 'manage-team-tokens', team),
      'can-update-visibility': false,
    },
  },
  relationships: {
    organization: toOne('organizations', team.organizationName, `/api/v2/organizations/${team.organizationName}`),
    users: toMany('users', team.members),
    'authentication-token': linkTo(`/api/v2/teams/${team.id}/authentication-token`),
  },
  links: { self: `/api/v2/teams/${team.id}` },
});

@Controller('api/v2')
export class TeamsController {
  constructor(private readonly database: Database) {}

  @Get('organizations/:organization/teams')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const names = (parameter(query, 'filter[names]') ?? '').split(',').filter((name) => name !== '');
    const search = parameter(query, 'q')?.toLowerCase() ?? '';
    const teams = (await teamsOf(this.database, organization, actor)).filter(
      ({ name }) => (names.length === 0 || names.includes(name)) && name.toLowerCase().includes(search),
    );
    const data = shownOf(teams, page).map((team) => teamResource(team, actor));
    return pageDocument(data, page, teams.length, request.url);
  }

  @Get('teams/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(teamResource(await teamById(this.database, id, 'read-teams', actor), actor));
  }
}
