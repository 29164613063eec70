import type { Resource } from '#json-api';
import type { PolicyRow } from './data-retention-policies.queries.js';
import { DELETE_OLDERS, DONT_DELETES } from '#data-retention-policies';

/** One of two types, by what the policy says. `target` is whose it is: what counts for a workspace may be its organization's. */
export const renderPolicy = ({ id, deleteOlderThanDays: days, workspace, organizationName }: PolicyRow): Resource => ({
  id,
  type: days === null ? DONT_DELETES : DELETE_OLDERS,
  attributes: days === null ? {} : { 'delete-older-than-n-days': days },
  relationships: {
    target: {
      data:
        workspace === null ? { type: 'organizations', id: organizationName } : { type: 'workspaces', id: workspace },
    },
  },
});
