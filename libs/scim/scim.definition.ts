import { defineAggregate, toEventRegistry, toProjection, type ModuleDefinition } from '#event-store';
import { scimGroup } from './groups/scim-group.js';
import { scimTeamsFollower } from './groups/scim-teams.follower.js';
import { scimEvents } from './scim.events.js';
import { scimGroups, scimUsers } from './scim.projection.js';
import { scimUser } from './users/scim-user.js';

export const scimDefinition: ModuleDefinition = {
  name: 'scim',
  kinds: toEventRegistry(scimEvents),
  aggregates: [defineAggregate('scu', scimUser), defineAggregate('scg', scimGroup)],
  projections: [toProjection(scimUsers), toProjection(scimGroups)],
  followers: [scimTeamsFollower],
  migrations: new URL('./sql/', import.meta.url),
};
