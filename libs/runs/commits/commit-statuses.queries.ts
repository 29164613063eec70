import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { ASSESSMENT, isConnectionUsable } from '#runs/runs';
import { IS_AGGREGATED, REPORTS_STATUSES } from './untriggered-plans.queries.js';

/** A run whose status the Git host does not have. */
export type UnreportedRun = {
  readonly id: string;
  readonly status: string;
  readonly workspaceName: string;
  readonly isPlanned: boolean;
  readonly isConfirmed: boolean;
  readonly organization: string;
  readonly organizationName: string;
  /** Whether all runs of a commit have one status together. */
  readonly isAggregated: boolean;
  readonly identifier: string;
  readonly sha: string;
  readonly client: string;
  readonly token: string;
  readonly serviceProvider: string;
  readonly apiUrl: string;
  /** The status of which the run was a part when it was reported last; null if it was not reported, or refused. */
  readonly report: string | null;
};

const COLUMNS = sql`
  r.id, r.status, w.name as "workspaceName", r.reached ? 'planned' as "isPlanned",
  r.reached ? 'apply_queued' as "isConfirmed", w.organization, o.name as "organizationName",
  ${IS_AGGREGATED} as "isAggregated",
  c.ingress ->> 'identifier' as identifier, c.ingress ->> 'commitSha' as sha, oc.id as client, oc.token,
  oc.service_provider as "serviceProvider", oc.api_url as "apiUrl", s.report`;

const JOINS = sql`
  join workspaces w on w.id = r.workspace and r.source <> ${ASSESSMENT} join organizations o on o.id = w.organization
  join oauth_clients oc on ${isConnectionUsable(sql`c.ingress ->> 'oauthToken'`)}
  left join commits.reported_runs s on s.run = r.id`;

/** Returns the statement that lists runs of commits whose status may have changed. */
export const storeChangedRuns = (changed: readonly { readonly run: string; readonly at: Timestamp }[]): Sql => sql`
  insert into commits.changed_runs (run, organization, changes, changed_at)
  select r.id, r.organization, 1, n.at from jsonb_to_recordset(${sql.json(changed)}::jsonb) n (run text, at timestamptz)
    join runs r on r.id = n.run join configuration_versions c on c.id = r.configuration_version
   where c.ingress is not null and r.source <> ${ASSESSMENT}
   order by r.id
  on conflict (run) do update set changes = changed_runs.changes + 1, changed_at = excluded.changed_at`;

const IS_CHANGED = sql`s.status is distinct from r.status`;

/**
 * Removes runs from the list that were reported or will not be: they are old, were deleted, or have no connection. A run that
 * changes meanwhile stays, and so do runs of organizations that want no statuses now.
 */
export const deleteUnchangedRuns = async (database: Database, since: Timestamp): Promise<void> => {
  await database.rows(sql`
    delete from commits.changed_runs l
     using (
       select u.run, u.changes from commits.changed_runs u left join organizations o on o.id = u.organization
        where o.id is null or u.changed_at < ${since} or ${REPORTS_STATUSES} and not exists (
                select 1 from runs r join configuration_versions c on c.id = r.configuration_version ${JOINS}
                 where r.id = u.run and c.created_at >= ${since} and ${IS_CHANGED})) unchanged
     where l.run = unchanged.run and l.changes = unchanged.changes`);
};

/**
 * Returns runs of commits since `since` whose status has changed, in turns of the organizations and of their connections.
 * `paused`: tokens, and `status` with token, identifier and SHA of a commit, that are left out.
 */
export const listUnreportedRuns = (
  database: Database,
  since: Timestamp,
  paused: readonly string[],
  most: number,
): Promise<readonly UnreportedRun[]> =>
  database.rows<UnreportedRun & { readonly turn: number; readonly turnOfOrganization: number }>(sql`
    select *, row_number() over (partition by organization order by turn, id) as "turnOfOrganization" from (
      select ${COLUMNS}, row_number() over (partition by oc.token order by c.created_at, c.id, r.id) as turn
        from commits.changed_runs u join runs r on r.id = u.run
        join configuration_versions c on c.id = r.configuration_version ${JOINS}
       where u.organization = o.id and c.ingress is not null and c.created_at >= ${since} and ${IS_CHANGED} and ${REPORTS_STATUSES}
         and not (array[oc.token, concat_ws(' ', 'status', oc.token, c.ingress ->> 'identifier', c.ingress ->> 'commitSha')]
                  && ${paused}::text[])) runs
     order by "turnOfOrganization", organization, id limit ${most}`);

/**
 * Returns the newest run of each workspace for a commit in an organization, through one connection. `workspaceName`: the only
 * workspace whose run is returned; null for all.
 */
export const listNewestRuns = (
  database: Database,
  { organization, token, identifier, sha }: UnreportedRun,
  workspaceName: string | null,
  since: Timestamp,
): Promise<readonly UnreportedRun[]> =>
  database.rows<UnreportedRun>(sql`
    select distinct on (w.id) ${COLUMNS}
      from configuration_versions c join runs r on r.configuration_version = c.id ${JOINS}
     where c.ingress is not null and c.created_at >= ${since} and w.organization = ${organization} and oc.token = ${token}
       and c.ingress ->> 'identifier' = ${identifier} and c.ingress ->> 'commitSha' = ${sha}
       ${workspaceName === null ? sql.empty : sql`and w.name = ${workspaceName}`}
     order by w.id, r.created_at desc, r.id desc`);

/** Returns the statement that stores the statuses that were reported. */
export const storeReportedRuns = (
  runs: readonly Pick<UnreportedRun, 'id' | 'status'>[],
  report: string | null,
  now: Timestamp,
): Sql => sql`
  insert into commits.reported_runs (run, status, report, reported_at)
  select r.id, r.status, ${report}, ${now} from jsonb_to_recordset(${sql.json(runs)}::jsonb) r (id text, status text)
  on conflict (run) do update set status = excluded.status, report = excluded.report, reported_at = excluded.reported_at`;

export const deleteOldReports = async (database: Database, before: Timestamp): Promise<void> => {
  await database.rows(sql`
    delete from commits.reported_runs s
     where s.reported_at < ${before} and not exists (select 1 from runs r where r.id = s.run and r.created_at >= ${before})`);
};
