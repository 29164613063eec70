import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { hasOrganizationName, requireCurrentAccess, requirePermittedRow, type Actor } from '#api/access';
import { EXECUTES_REMOTE_RUNS } from '#organizations/agents';
import type { FeatureSet } from '../organizations/organization.js';

export type EntitlementSetRow = {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  readonly featureSet: FeatureSet;
  /** Whether a pool of the organization or of the site executes its runs in `remote` mode. */
  readonly executesRemoteRuns: boolean;
};

const COLUMNS = sql`o.id, o.id as organization, o.name, o.feature_set as "featureSet",
  ${EXECUTES_REMOTE_RUNS} as "executesRemoteRuns"`;

export const selectEntitlementSets = (ids: Sql): Sql =>
  sql`select ${COLUMNS} from organizations o where o.id = any (${ids}) order by o.name`;

/** Returns the entitlements of the organization with this name. Throws `not-found` if the caller may not read them. */
export const findEntitlementSet = async (
  database: Database,
  actor: Actor,
  name: string,
): Promise<EntitlementSetRow> => {
  const row = await database.row<EntitlementSetRow>(
    sql`select ${COLUMNS} from organizations o where ${hasOrganizationName('o', name)} and ${requireCurrentAccess(actor)}`,
  );
  return requirePermittedRow(actor, 'read-entitlements', row);
};
