import type { Resource } from '#api/json-api';
import type { PolicyRow } from './data-retention-policies.queries.js';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';

/**
 * Renders a policy with its type. `target` is the owner; the effective policy of a workspace may belong to its
 * organization.
 */
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
