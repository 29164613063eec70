import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { WORKSPACE_NAMES } from '#api/access';
import { remoteStateConsumers } from './remote-state-consumers/remote-state-consumers.projection.js';
import { workspace } from './workspaces/workspace.js';
import { workspaceEvents } from './workspaces.events.js';
import { workspaceCounts, workspaceNames, workspaces, workspaceTags } from './workspaces.projection.js';

export const workspacesDefinition: ModuleDefinition = {
  name: 'workspaces',
  kinds: workspaceEvents,
  aggregates: [defineAggregate('ws', workspace)],
  projections: [
    toProjection(workspaces),
    toProjection(workspaceNames),
    toProjection(workspaceTags),
    toProjection(workspaceCounts),
    toProjection(remoteStateConsumers),
  ],
  followers: [],
  uniqueNames: [WORKSPACE_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};
