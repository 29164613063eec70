import { selectJsonTimestamp, sql, type Sql, type Timestamp } from '#platform/kernel';
import { selectTaskHost, selectTaskService, type ConsultedService } from '#runs/run-tasks';
import type { EnforcementLevel, TaskStageName } from '#runs/run-tasks/rules';
import type { Ingress } from '../configuration-versions/configuration-version.js';

/** A result whose service gets its request now. */
export type DueTaskRequest = {
  readonly result: string;
  /** Of the service; null if the task was deleted. */
  readonly host: string | null;
  readonly attempts: number;
  readonly organization: string;
  readonly organizationName: string;
  /** Null if the task was deleted. */
  readonly service: ConsultedService | null;
  readonly stage: TaskStageName;
  readonly enforcementLevel: EnforcementLevel;
  readonly run: string;
  readonly runCreatedAt: Timestamp;
  readonly runCreatedBy: string;
  readonly runMessage: string;
  readonly isSpeculative: boolean;
  readonly configurationVersion: string;
  readonly ingress: Ingress | null;
  readonly workspace: string;
  readonly workspaceName: string;
  readonly workingDirectory: string | null;
};

export type TaskRequestLimits = { readonly total: number; readonly perOrganization: number; readonly perHost: number };

export type RunningTaskRequest = Pick<DueTaskRequest, 'organization' | 'host'>;

type TaskClaimOptions = TaskRequestLimits & {
  readonly now: Date;
  /** When the request is due again if this process ends before it has stored an answer. */
  readonly retryAt: Date;
  readonly running: readonly RunningTaskRequest[];
};

/** The condition that the service of the result `t` with the request `q` has not accepted a request. */
const IS_WAITING = sql.raw("t.silent_since is not null and t.status = 'pending' and q.accepted_at is null");

/**
 * Takes due requests. Organizations take turns, and so do the hosts of an organization, so that the slow services of one do not
 * delay others.
 */
export const claimTaskRequests = ({
  total,
  perOrganization,
  perHost,
  now,
  retryAt,
  running,
}: TaskClaimOptions): Sql => sql`
  with running as (
    select organization, host from jsonb_to_recordset(${sql.json(running)}::jsonb) as list (organization text, host text)),
  candidates as (
    select t.id, t.workspace, t.organization, s.host, coalesce(q.next_attempt_at, t.silent_since) as due_at,
           (select count(*) from running r where r.organization = t.organization and r.host is not distinct from s.host)
             + row_number() over (partition by t.organization, s.host
                                  order by coalesce(q.next_attempt_at, t.silent_since), t.id) as host_turn
      from task_results t join workspaces w on w.id = t.workspace left join runs.task_requests q on q.result = t.id
      cross join lateral (select ${selectTaskHost(sql.raw('t.task'))} as host) s
     where ${IS_WAITING} and (q.result is null or q.next_attempt_at <= ${now})),
  due as (
    select c.*, (select count(*) from running r where r.organization = c.organization)
                + row_number() over (partition by organization order by host_turn, due_at, id) as turn
      from candidates c where host_turn <= ${perHost}),
  claimed as (
    insert into runs.task_requests as q (result, workspace, organization, attempts, next_attempt_at)
    select id, workspace, organization, 1, ${retryAt} from due where turn <= ${perOrganization}
     order by turn, due_at limit ${total}
    on conflict (result) do update set attempts = q.attempts + 1, next_attempt_at = excluded.next_attempt_at
      where q.accepted_at is null and q.next_attempt_at <= ${now}
    returning result, attempts)
  select c.result, c.attempts, t.organization, due.host, o.name as "organizationName",
         ${selectTaskService(sql.raw('t.task'))} as service, t.stage, t.enforcement_level as "enforcementLevel", t.run,
         ${selectJsonTimestamp('r.created_at')} as "runCreatedAt",
         coalesce((select u.username from users u where u.id = r.created_by ->> 'id'), r.created_by ->> 'name') as "runCreatedBy",
         r.message as "runMessage", (r.options ->> 'planOnly')::boolean as "isSpeculative",
         r.configuration_version as "configurationVersion", v.ingress, t.workspace, w.name as "workspaceName",
         w.settings ->> 'workingDirectory' as "workingDirectory"
    from claimed c join due on due.id = c.result join task_results t on t.id = c.result join runs r on r.id = t.run
    join workspaces w on w.id = t.workspace join organizations o on o.id = t.organization
    left join configuration_versions v on v.id = r.configuration_version`;

export type DueTaskRequestCounts = { readonly due: number; readonly oldestSeconds: number };

/** Counts at most this many, so that a backlog does not make the statement slow. */
const MAX_COUNTED = 10_000;

/** Counts the requests that `claimTaskRequests` leaves for later, because of its limits. */
export const countDueTaskRequests = (now: Date): Sql => sql`
  select count(*) as due,
         coalesce(greatest(extract(epoch from ${now}::timestamptz - min(due_at)), 0), 0)::float8 as "oldestSeconds"
    from (select coalesce(q.next_attempt_at, t.silent_since) as due_at
            from task_results t join workspaces w on w.id = t.workspace left join runs.task_requests q on q.result = t.id
           where ${IS_WAITING} and coalesce(q.next_attempt_at, t.silent_since) <= ${now} limit ${MAX_COUNTED}) due`;

export const acceptTaskRequest = (result: string, at: Date): Sql =>
  sql`update runs.task_requests set accepted_at = ${at} where result = ${result}`;

export const postponeTaskRequest = (result: string, until: Date): Sql =>
  sql`update runs.task_requests set next_attempt_at = ${until} where result = ${result}`;

/** Deletes the requests of results that have ended. */
export const deleteEndedTaskRequests = (): Sql => sql`
  delete from runs.task_requests q
   where not exists (select from task_results t where t.id = q.result and t.silent_since is not null)`;

export type SilentResult = { readonly id: string; readonly run: string };

/**
 * Selects open results whose services were silent, or have worked, for too long. A service that has not got its request is not
 * silent. One that has reported has got it, also if the process ended before it stored the answer.
 */
export const selectSilentResults = (silentBefore: Date, startedBefore: Date, most: number): Sql => sql`
  select t.id, t.run from task_results t join workspaces w on w.id = t.workspace
    left join runs.task_requests q on q.result = t.id
   where t.silent_since is not null
     and (greatest(t.silent_since, q.accepted_at) <= ${silentBefore} and (q.accepted_at is not null or t.status = 'running')
       or t.started_at <= ${startedBefore} and (q.result is not null or t.status = 'running'))
   order by t.silent_since limit ${most}`;
