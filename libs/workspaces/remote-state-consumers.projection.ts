import { sql, type Projection } from '#kernel';
import type { OrganizationEvent } from '#organizations';
import type { ConsumerEvent } from './remote-state-consumers.js';
import type { WorkspaceEvent } from './workspace.js';

type Deleted =
  Extract<OrganizationEvent, { type: 'OrganizationDeleted' }> | Extract<WorkspaceEvent, { type: 'WorkspaceDeleted' }>;

export const remoteStateConsumers: Projection<ConsumerEvent | Deleted> = {
  name: 'remote_state_consumers',
  tables: ['remote_state_consumers'],
  on: {
    RemoteStateConsumersAdded: ({ workspaces }, { stream, organization }) => sql`
      insert into remote_state_consumers (workspace, consumer, organization)
      select ${stream}, consumer, ${organization} from unnest(${workspaces}::text[]) as added (consumer)`,
    RemoteStateConsumersRemoved: ({ workspaces }, { stream }) => sql`
      delete from remote_state_consumers where workspace = ${stream} and consumer = any (${workspaces}::text[])`,
    WorkspaceDeleted: (_, { stream }) =>
      sql`delete from remote_state_consumers where workspace = ${stream} or consumer = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from remote_state_consumers where organization = ${stream}`,
  },
};
