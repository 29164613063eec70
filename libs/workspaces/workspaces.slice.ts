import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { remoteStateConsumers } from './remote-state-consumers.projection.js';
import { workspace } from './workspace.js';
import { workspaceEvents } from './workspaces.events.js';
import { workspaceCounts, workspaces, workspaceTags } from './workspaces.projection.js';

export const workspacesSlice: Slice = {
  name: 'workspaces',
  kinds: kindsOf(workspaceEvents),
  aggregates: [aggregate('ws', workspace)],
  projections: [
    projectionOf(workspaces),
    projectionOf(workspaceTags),
    projectionOf(workspaceCounts),
    projectionOf(remoteStateConsumers),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
