import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderTeam } from './teams.document.js';
import { selectVisibleTeams, type TeamDetailsRow } from './teams.queries.js';

/** The latest document of each team, for its state topic. It names members by their ids only. */
export const publishedTeams: PublishedResource = {
  type: 'teams',
  topic: 'organizations.state',
  description: 'Teams, with the ids of their members: `GET /api/v2/teams/:id`.',
  schemaVersion: 1,
  tables: ['teams', 'team_members', 'organization_memberships'],
  // They contain the name of the organization.
  alsoChangedBy: ['OrganizationUpdated'],
  streamColumn: 'id',
  findAffected: ({ type, team }) => {
    if (team !== null) return { in: 'keys', keys: [team] };
    // Events of users and tokens change no document of a team.
    return /^(?:Membership|Organization)/.test(type) ? { in: 'organization' } : { in: 'keys', keys: [] };
  },
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<TeamDetailsRow>(selectVisibleTeams(keys, owner), (rows) =>
      rows.map((row) => ({ key: row.id, document: renderDocument(renderTeam(row, owner)) })),
    ),
  selectKeys: (scope) =>
    'organization' in scope ? sql`select id as key from teams where organization = ${scope.organization}` : NO_KEYS,
};

const NO_KEYS = sql`select id as key from teams where false`;
