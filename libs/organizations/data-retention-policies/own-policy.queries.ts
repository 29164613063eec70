import { sql, type Sql } from '#platform/kernel';
import { DELETE_OLDERS, DONT_DELETES } from './data-retention-policy.js';

export type PolicyIdentifier = { readonly type: typeof DELETE_OLDERS | typeof DONT_DELETES; readonly id: string };

/**
 * Selects the policy of a workspace or an organization itself, as a `PolicyIdentifier` in jsonb, or null. `owner` is
 * the column with its id.
 */
export const selectOwnPolicy = (owner: Sql): Sql => sql`(
  select jsonb_build_object('id', drp.id, 'type', case when drp.delete_older_than_days is null
                                                       then ${sql.raw(`'${DONT_DELETES}'`)} else ${sql.raw(`'${DELETE_OLDERS}'`)} end)
    from data_retention_policies drp where drp.owner = ${owner})`;
