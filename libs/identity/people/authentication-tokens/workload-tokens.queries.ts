import { sql, type Sql } from '#platform/kernel';
import { buildSnapshotJson } from '#storage/event-store';
import { selectMaxTtl, WORKLOAD_IDENTITIES } from './authentication-tokens.queries.js';

// The type is part of each statement, so that Postgres uses the indexes of these tokens.
const OF_WORKLOADS = sql.raw(`token.created_by_type = '${WORKLOAD_IDENTITIES}'`);

/** Returns an expression for the number of unexpired tokens that the workload identities of a team have issued. */
export const countWorkloadTokens = (team: Sql, now: Date): Sql => sql`
  (select count(*) from authentication_tokens token
    where token.owner = ${team} and ${OF_WORKLOADS} and token.expired_at > ${now})`;

/** Returns an expression for the longest lifetime of new tokens of teams, in milliseconds; null without a limit. */
export const selectTeamTokenMaxTtl = (organization: Sql): Sql => selectMaxTtl(sql.raw(`'team'`), organization);

/** Returns an expression for all tokens that a workload identity of a team has issued as jsonb, `OwnedToken[]`. */
export const selectTokensOfWorkload = (identity: Sql, team: Sql): Sql => sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', token.id, 'organization', token.organization,
                                      'snapshot', ${buildSnapshotJson('its')}) order by token.id)
    from authentication_tokens token join event_store.streams its on its.stream = token.id
   where ${isOfWorkload(identity, team)}), '[]')`;

/** Returns the condition that a workload identity of a team has a token. */
export const hasWorkloadTokens = (identity: Sql, team: Sql): Sql =>
  sql`exists (select 1 from authentication_tokens token where ${isOfWorkload(identity, team)})`;

const isOfWorkload = (identity: Sql, team: Sql): Sql =>
  sql`token.owner = ${team} and ${OF_WORKLOADS} and token.created_by = ${identity}`;

/** Selects tokens of workload identities that have expired, `OwnedToken` in each row. */
export const selectExpiredWorkloadTokens = (now: Date, most: number): Sql => sql`
  select token.id, token.organization, ${buildSnapshotJson('its')} as snapshot
    from authentication_tokens token join event_store.streams its on its.stream = token.id
   where ${OF_WORKLOADS} and token.expired_at <= ${now}
   order by token.expired_at, token.id limit ${most}`;
