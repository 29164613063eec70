import { sql, type Projection, type OrganizationDeleted, type WorkspaceEnd, whenWorkspaceEnds } from '#platform/kernel';
import type { DataRetentionPolicyEvent } from './data-retention-policy.js';

type OwnerDeleted = WorkspaceEnd | OrganizationDeleted;

export const dataRetentionPolicies: Projection<DataRetentionPolicyEvent | OwnerDeleted> = {
  name: 'data_retention_policies',
  version: 1,
  tables: ['data_retention_policies'],
  on: {
    DataRetentionPolicySet: ({ target, deleteOlderThanDays }, { stream, organization }) => sql`
      insert into data_retention_policies (id, organization, owner, delete_older_than_days)
      values (${stream}, ${organization}, ${target.id}, ${deleteOlderThanDays})`,
    DataRetentionPolicyChanged: ({ deleteOlderThanDays }, { stream }) =>
      sql`update data_retention_policies set delete_older_than_days = ${deleteOlderThanDays} where id = ${stream}`,
    DataRetentionPolicyRemoved: (_, { stream }) => sql`delete from data_retention_policies where id = ${stream}`,
    ...whenWorkspaceEnds((workspace) => sql`delete from data_retention_policies where owner = ${workspace}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from data_retention_policies where organization = ${stream}`,
  },
};
