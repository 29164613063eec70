import { sql, type Projection, type OrganizationDeleted, type WorkspaceDeleted } from '#platform/kernel';
import type { ConsumerEvent } from './remote-state-consumers.js';

type ConsumerEndEvent = OrganizationDeleted | WorkspaceDeleted;

export const remoteStateConsumers: Projection<ConsumerEvent | ConsumerEndEvent> = {
  name: 'remote_state_consumers',
  version: 1,
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
