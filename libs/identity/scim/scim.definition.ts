import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { scimGroup } from './groups/scim-group.js';
import type { GroupStatements } from './groups/group-statements.port.js';
import { createScimTeamsFollower } from './groups/scim-teams.follower.js';
import { scimEvents } from './scim.events.js';
import { scimGroups, scimUsers } from './scim.projection.js';
import { scimUser } from './users/scim-user.js';

export const createScimDefinition = (statements: GroupStatements): ModuleDefinition => ({
  name: 'scim',
  kinds: scimEvents,
  aggregates: [defineAggregate('scu', scimUser), defineAggregate('scg', scimGroup)],
  projections: [toProjection(scimUsers), toProjection(scimGroups)],
  followers: [createScimTeamsFollower(statements)],
  migrations: new URL('./sql/', import.meta.url),
});
