import type { Resource } from '#api/json-api';
import { ENTITLEMENTS } from './entitlements.js';
import type { EntitlementSetRow } from './entitlements.queries.js';

/**
 * Renders what an organization can do. Without `operations`, the CLI plans and applies on its own machine, whatever the
 * execution mode of the workspace.
 */
export const renderEntitlementSet = ({ id, name, featureSet, executesRemoteRuns }: EntitlementSetRow): Resource => ({
  id,
  type: 'entitlement-sets',
  attributes: { ...ENTITLEMENTS[featureSet], operations: executesRemoteRuns },
  links: { self: `/api/v2/organizations/${name}/entitlement-set` },
});
