import { sql, type Sql } from '#platform/kernel';
import { selectEncryptedBytes, selectEncryptedSecret } from '#storage/vault';
import { selectCandidates, type EffectiveCandidate } from './variables.queries.js';

/** A variable that may apply to a run. `encrypted` is the value of a sensitive one, for `Vault.decrypt`. */
type RunVariableCandidate = Pick<
  EffectiveCandidate,
  'id' | 'key' | 'category' | 'value' | 'hcl' | 'sensitive' | 'source'
> & {
  readonly encrypted: string | null;
};

export type RunVariableCandidates = {
  /** Bytes of all values. */
  readonly bytes: number;
  /** Everything that `resolveEffectiveVariables` needs; null if the values have more bytes than were requested. */
  readonly candidates: readonly RunVariableCandidate[] | null;
};

/** Returns an expression for `RunVariableCandidates` of a workspace. Postgres reads values only if all of them fit. */
export const selectCandidatesForRun = (workspace: Sql, maxBytes: number): Sql => sql`(
  select jsonb_build_object('bytes', total.bytes, 'candidates', case when total.bytes <= ${maxBytes} then coalesce((
           select jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'category', c.category, 'value', c.value, 'hcl', c.hcl,
                    'sensitive', c.sensitive, 'source', c.source,
                    'encrypted', case when c.sensitive then ${selectEncryptedSecret(sql.raw('c.id'))} end)
                    order by c.key, c.category)
             from workspaces owner cross join lateral (${selectCandidates('owner')}) c where owner.id = ${workspace}), '[]') end)
    from (select coalesce(sum(coalesce(octet_length(c.value), 0) + coalesce(${selectEncryptedBytes(sql.raw('c.id'))}, 0)), 0)::bigint
                   as bytes
            from workspaces owner cross join lateral (${selectCandidates('owner')}) c where owner.id = ${workspace}) total)`;
