import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { selectEncryptedBytes, selectEncryptedSecret } from '#storage/vault';
import { selectCandidates, type EffectiveCandidate } from './variables.queries.js';

/** A variable that may apply to a run. `encrypted` is the value of a sensitive one, for `Vault.decrypt`. */
export type RunVariableCandidate = Pick<
  EffectiveCandidate,
  'id' | 'key' | 'category' | 'value' | 'hcl' | 'sensitive' | 'source'
> & {
  readonly encrypted: string | null;
};

/** Returns everything that `resolveEffectiveVariables` needs for a run, with the encrypted values of sensitive variables. */
export const listCandidatesForRun = (database: Database, workspace: string): Promise<RunVariableCandidate[]> =>
  database.rows<RunVariableCandidate>(sql`
    select c.id, c.key, c.category, c.value, c.hcl, c.sensitive, c.source,
           case when c.sensitive then ${selectEncryptedSecret(sql.raw('c.id'))} end as encrypted
      from workspaces owner cross join lateral (${selectCandidates('owner')}) c
     where owner.id = ${workspace} order by c.key, c.category`);

/** Returns an expression for the bytes of all values that `listCandidatesForRun` would return. `workspace`: its id. */
export const selectBytesForRun = (workspace: Sql): Sql => sql`(
  select coalesce(sum(coalesce(octet_length(c.value), 0) + coalesce(${selectEncryptedBytes(sql.raw('c.id'))}, 0)), 0)::bigint
    from workspaces owner cross join lateral (${selectCandidates('owner')}) c where owner.id = ${workspace})`;
