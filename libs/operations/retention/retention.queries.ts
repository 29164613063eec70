import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { IS_CONFIGURATION_NEEDED } from '#runs/runs';
import { IS_STATE_NEEDED } from '#workspaces/state';
import { joinEffectivePolicy } from './data-retention-policies.queries.js';

/**
 * Records whose files policies delete. `isKept` is a condition on their row `v`: the files exist, and `kept_since` is their age.
 * `isNeeded` is a condition on this row and the row `w` of their workspace.
 */
export type RetainedKind = { readonly table: Sql; readonly isKept: Sql; readonly isNeeded: Sql };

export const STATE_VERSIONS: RetainedKind = {
  table: sql.raw('state_versions'),
  isKept: sql.raw(`v.status = 'finalized'`),
  isNeeded: IS_STATE_NEEDED,
};

export const CONFIGURATION_VERSIONS: RetainedKind = {
  table: sql.raw('configuration_versions'),
  isKept: sql.raw(`v.status = 'uploaded'`),
  isNeeded: IS_CONFIGURATION_NEEDED,
};

/** Their logs, documents of plans and errored states. A run that has not ended has no age. */
export const RUNS: RetainedKind = {
  table: sql.raw('runs'),
  isKept: sql.raw('v.kept_since is not null and v.data_deleted_at is null'),
  isNeeded: sql.raw('false'),
};

type DeletingPolicy = {
  readonly id: string;
  readonly organization: string;
  /** Null if the policy belongs to the organization. */
  readonly workspace: string | null;
  readonly days: number;
};

const POLICIES_PER_PAGE = 100;
const VERSIONS_PER_PAGE = 200;

/**
 * A recovery brings back what a deleted workspace had, and its purge deletes all its files. The condition belongs into each page, because
 * a page with fewer rows ends the list.
 */
const IS_IN_WORKSPACE = sql.raw('exists (select from workspaces present where present.id = v.workspace)');

export type StoredVersion = {
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  /** Null for a state version until something happens to its data. */
  readonly snapshot: StreamSnapshot | null;
};

async function* listDeletingPolicies(database: Database): AsyncGenerator<DeletingPolicy> {
  for (let after = ''; ;) {
    const page = await database.rows<DeletingPolicy>(sql`
      select id, organization, case when owner <> organization then owner end as workspace,
             delete_older_than_days as days
        from data_retention_policies where delete_older_than_days is not null and id > ${after}
       order by id limit ${POLICIES_PER_PAGE}`);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < POLICIES_PER_PAGE) return;
    after = last.id;
  }
}

const isOlder = (now: Date, days: Sql): Sql =>
  sql`v.kept_since < ${now.toISOString()}::timestamptz - make_interval(days => ${days})`;

/**
 * Yields ids of the versions that are due under a policy, oldest first. Old versions that are kept are skipped here
 * instead of by a condition, so that each statement reads few rows.
 */
async function* listDueUnderPolicy(
  database: Database,
  { table, isKept, isNeeded }: RetainedKind,
  { id, organization, workspace, days }: DeletingPolicy,
  now: Date,
): AsyncGenerator<string> {
  const inside = workspace === null ? sql`v.organization = ${organization}` : sql`v.workspace = ${workspace}`;
  let after = { unusedSince: '-infinity', id: '' };
  for (;;) {
    const page = await database.rows<{ id: string; unusedSince: Timestamp; isDue: boolean }>(sql`
      select v.id, v.kept_since as "unusedSince", not ${isNeeded} and coalesce(d.id = ${id}, false) as "isDue"
        from (select * from ${table} v
               where ${inside} and ${isKept} and ${isOlder(now, sql`${days}::integer`)}
                 -- Not those of deleted workspaces, or a page of them would end the list.
                 and ${IS_IN_WORKSPACE}
                 and (v.kept_since, v.id) > (${after.unusedSince}::timestamptz, ${after.id})
               order by v.kept_since, v.id limit ${VERSIONS_PER_PAGE}) v
        join workspaces w on w.id = v.workspace
        left join ${joinEffectivePolicy('v.workspace', 'v.organization')} d on true
       order by v.kept_since, v.id`);
    yield* page.filter(({ isDue }) => isDue).map((version) => version.id);
    const last = page.at(-1);
    if (!last || page.length < VERSIONS_PER_PAGE) return;
    after = last;
  }
}

/** Yields ids of all versions whose data is older than their effective policy allows. */
export async function* listDueVersions(database: Database, kind: RetainedKind, now: Date): AsyncGenerator<string> {
  for await (const policy of listDeletingPolicies(database)) yield* listDueUnderPolicy(database, kind, policy, now);
}

/** A version whose data is due for deletion, and the versions of the streams that this depends on. */
type DueVersion = StoredVersion & {
  readonly workspaceVersion: number;
  readonly policy: string;
  readonly policyVersion: number;
};

/** Returns undefined if the version is not due or no longer due. */
export const findDueVersion = (
  database: Database,
  { table, isKept, isNeeded }: RetainedKind,
  id: string,
  now: Date,
): Promise<DueVersion | undefined> =>
  database.row<DueVersion>(sql`
    select v.id, v.workspace, v.organization, sw.version as "workspaceVersion", d.id as policy,
           sd.version as "policyVersion", ${selectSnapshotJson('v.id')} as snapshot
      from ${table} v join workspaces w on w.id = v.workspace
      join event_store.streams sw on sw.stream = v.workspace
      join ${joinEffectivePolicy('v.workspace', 'v.organization')} d on true
      join event_store.streams sd on sd.stream = d.id
     where v.id = ${id} and ${isKept} and ${isOlder(now, sql.raw('d.delete_older_than_days'))}
       and not ${isNeeded}`);

/**
 * Condition: the workspace has another policy. The precondition covers only the organization's policy, which does not
 * change when the workspace gets one of its own.
 */
export const hasOtherPolicy = ({ workspace, policy }: DueVersion): Sql =>
  sql`exists (select 1 from data_retention_policies own where own.owner = ${workspace} and own.id <> ${policy})`;

const SOFT_DELETED = sql.raw(`'backing_data_soft_deleted'`);

/** Yields ids of the versions whose data was soft-deleted before that time, oldest first. */
export async function* listExpiredVersions(
  database: Database,
  { table }: RetainedKind,
  before: Date,
): AsyncGenerator<string> {
  let after = { at: '-infinity', id: '' };
  for (;;) {
    const page = await database.rows<{ id: string; at: Timestamp }>(sql`
      select v.id, v.soft_deleted_at as at from ${table} v
       where v.status = ${SOFT_DELETED} and v.soft_deleted_at < ${before.toISOString()}::timestamptz
         and ${IS_IN_WORKSPACE} and (v.soft_deleted_at, v.id) > (${after.at}::timestamptz, ${after.id})
       order by v.soft_deleted_at, v.id limit ${VERSIONS_PER_PAGE}`);
    yield* page.map(({ id }) => id);
    const last = page.at(-1);
    if (!last || page.length < VERSIONS_PER_PAGE) return;
    after = last;
  }
}

/** Returns undefined if the version was restored or deleted in the meantime. */
export const findExpiredVersion = (
  database: Database,
  { table }: RetainedKind,
  id: string,
  before: Date,
): Promise<StoredVersion | undefined> =>
  database.row<StoredVersion>(sql`
    select v.id, v.workspace, v.organization, ${selectSnapshotJson('v.id')} as snapshot from ${table} v
     where v.id = ${id} and v.status = ${SOFT_DELETED} and ${IS_IN_WORKSPACE}
       and v.soft_deleted_at < ${before.toISOString()}::timestamptz`);
