import { sql, type Sql } from '#kernel';
import { waitForFollower, type Follower } from '#event-store';
import type { Database, DatabaseSession } from '#postgres';
import type { PresentSubject } from '#json-api';
import { HistoryWriter, type RunHistory } from './history-writer.js';
import { toHistoryChanges, HISTORY_EVENT_TYPES, listSubjects } from './workspace-history.handlers.js';
import type { OrganizationRecordedEvent } from './history-handlers.js';
import type { NewSubjectVersion, LatestSubjectVersion } from './subject-versions.js';

const FOLLOWER_NAME = 'workspace_history';

/**
 * Maximum length in characters. An index contains the name and has no room for long ones, such as the description of an
 * agent token.
 */
export const MAX_ACTOR_NAME_LENGTH = 100;

/** Writes the history. A batch takes the same few statements, however many events it has. */
export const historyFollower: Follower = {
  name: FOLLOWER_NAME,
  batch: 500,
  only: HISTORY_EVENT_TYPES,
  version: 1,
  tables: ['history_versions', 'history_runs', 'history_locks'],
  names: [
    { table: 'history_versions', column: 'actor_name', id: 'actor_id' },
    { table: 'history_versions', column: 'data', at: ['lock', 'holder'] },
    { table: 'history_locks', column: 'holder' },
    { table: 'history_locks', column: 'unlocked_by' },
  ],
  follow: async (events, session) => {
    const relevant = events.filter(
      (event): event is OrganizationRecordedEvent =>
        HISTORY_EVENT_TYPES.includes(event.type) && event.organization !== null,
    );
    if (relevant.length === 0) return [];
    const writer = await loadHistoryWriter(relevant, session);
    for (const event of relevant) for (const change of toHistoryChanges(event, writer)) writer.add(change, event);
    return buildStatements(writer);
  },
};

const selectOrganization = (subject: PresentSubject): Sql => {
  if ('workspace' in subject) return sql`(select organization from workspaces where id = ${subject.workspace})`;
  if ('project' in subject) return sql`(select organization from projects where id = ${subject.project})`;
  return sql`(select id from organizations where name = ${subject.organization})`;
};

/**
 * Resolves when the history contains everything that was written before the call for the organization of the subject,
 * or for all organizations if the subject no longer exists.
 */
export const waitForHistory = (database: Database, subject: PresentSubject): Promise<void> =>
  waitForFollower(database, FOLLOWER_NAME, { only: HISTORY_EVENT_TYPES, organization: selectOrganization(subject) });

const KEY_DELETED = 'SshKeyDeleted';

/**
 * Reads the state of all subjects of the events, and of subjects that those refer to: the workspace of a run, the owner
 * of a policy, the current run of a workspace.
 */
const loadHistoryWriter = async (
  events: readonly OrganizationRecordedEvent[],
  session: Pick<DatabaseSession, 'run'>,
): Promise<HistoryWriter> => {
  const keys = events.filter(({ type }) => type === KEY_DELETED).map(({ stream }) => stream);
  const users = keys.length > 0 ? await session.run<{ subject: string }>(selectWorkspacesEverUsing(keys)) : [];
  const loaded = { latestVersions: new Map<string, LatestSubjectVersion>(), runs: new Map<string, RunHistory>() };
  const requested = new Set<string>();
  let pending = [...events.flatMap(listSubjects), ...users.map(({ subject }) => subject)];
  while (pending.length > 0) {
    for (const id of pending) requested.add(id);
    const isRun = (id: string): boolean => id.startsWith('run-');
    const [latestVersions, runs] = await Promise.all([
      session.run<LatestSubjectVersion>(selectLatestVersions(pending.filter((id) => !isRun(id)))),
      session.run<RunHistory>(selectRuns(pending.filter(isRun))),
    ]);
    for (const one of latestVersions) loaded.latestVersions.set(one.subject, one);
    for (const one of runs) loaded.runs.set(one.run, one);
    const references = [
      ...latestVersions.flatMap(({ fullData }) => [
        fullData?.['workspace'],
        fullData?.['owner'],
        fullData?.['currentRun'],
      ]),
      ...runs.map(({ workspace }) => workspace),
    ];
    pending = [...new Set(references)].filter((id): id is string => typeof id === 'string' && !requested.has(id));
  }
  return new HistoryWriter([...loaded.latestVersions.values()], [...loaded.runs.values()]);
};

/** Selects workspaces that have ever used one of these keys, because they may still use it. */
const selectWorkspacesEverUsing = (keys: readonly string[]): Sql => sql`
  select distinct subject from history_versions
   where data ->> 'sshKey' = any (${keys}::text[]) and 'ssh-key' = any (changed)`;

const selectLatestVersions = (subjects: readonly string[]): Sql => sql`
  select h.subject, h.ordinal, h.since, h.frame as "baseVersion", h.data, f.data || h.data as "fullData"
    from (select distinct id from unnest(${subjects}::text[]) as id) named
    cross join lateral (select * from history_versions where subject = named.id order by ordinal desc limit 1) h
    join history_versions f on f.subject = h.subject and f.ordinal = h.frame`;

const selectRuns = (runs: readonly string[]): Sql => sql`
  select run, workspace, organization, queues, created_at as "createdAt", status, reached, finished_at as "finishedAt"
    from history_runs where run = any (${runs}::text[])`;

/**
 * Always returns the first statement, because the transaction that stores the checkpoint needs one, and readers wait
 * for the checkpoint.
 */
const buildStatements = ({ versions, changedRuns, lockings, unlockings, forgotten }: HistoryWriter): readonly Sql[] => [
  insertVersions(versions),
  ...(changedRuns.length > 0 ? [upsertRuns(changedRuns)] : []),
  ...(lockings.length > 0 ? [insertLocks(lockings)] : []),
  ...(unlockings.length > 0 ? [updateEndedLocks(unlockings)] : []),
  ...(forgotten.length > 0 ? deleteHistory(forgotten) : []),
];

const insertVersions = (versions: readonly NewSubjectVersion[]): Sql => {
  const rows = versions.map(({ subject, ordinal, since, baseVersion, data, changed, organization, event }) => ({
    subject,
    ordinal,
    organization,
    since,
    frame: baseVersion,
    data,
    changed,
    event: event.id,
    type: event.type,
    version: event.version,
    actor: event.context.accessor,
    request: event.context.request.id,
  }));
  return sql`
    insert into history_versions (subject, ordinal, organization, since, frame, data, changed, event, type, version,
                                  actor_type, actor_id, actor_name, request)
    select subject, ordinal, organization, since, frame, data, changed, event, type, version, actor ->> 'type',
           actor ->> 'id', left(actor ->> 'name', ${MAX_ACTOR_NAME_LENGTH}), request
      from jsonb_to_recordset(${sql.json(rows)}::jsonb) as list (
        subject text, ordinal bigint, organization text, since timestamptz, frame bigint, data jsonb, changed text[],
        event uuid, type text, version bigint, actor jsonb, request text)`;
};

const upsertRuns = (runs: readonly RunHistory[]): Sql => sql`
  insert into history_runs (run, workspace, organization, queues, created_at, status, reached, finished_at)
  select run, workspace, organization, queues, "createdAt", status, reached, "finishedAt"
    from jsonb_to_recordset(${sql.json(runs)}::jsonb) as list (
      run text, workspace text, organization text, queues boolean, "createdAt" timestamptz, status text, reached jsonb,
      "finishedAt" timestamptz)
  on conflict (run) do update
    set status = excluded.status, reached = excluded.reached, finished_at = excluded.finished_at`;

const insertLocks = (lockings: HistoryWriter['lockings']): Sql => sql`
  insert into history_locks (id, workspace, organization, holder, reason, locked_at)
  select id, workspace, organization, holder, reason, "lockedAt"
    from jsonb_to_recordset(${sql.json(lockings)}::jsonb) as list (
      id uuid, workspace text, organization text, holder jsonb, reason text, "lockedAt" timestamptz)`;

const updateEndedLocks = (unlockings: HistoryWriter['unlockings']): Sql => sql`
  update history_locks l
     set unlocked_at = greatest(list."unlockedAt", l.locked_at), unlocked_by = list."unlockedBy", forced = list.forced
    from jsonb_to_recordset(${sql.json(unlockings)}::jsonb) as list (
      id uuid, "unlockedAt" timestamptz, "unlockedBy" jsonb, forced boolean)
   where l.id = list.id`;

/** Must run last, so that it also deletes what the batch wrote for the organization before its deletion. */
const deleteHistory = (organizations: readonly string[]): readonly Sql[] => {
  const workspaces = sql`
    select subject from history_versions
     where organization = any (${organizations}::text[]) and ordinal = 1 and type = 'WorkspaceCreated'`;
  return [
    sql`delete from history_runs where workspace in (${workspaces})`,
    sql`delete from history_locks where workspace in (${workspaces})`,
    sql`
    delete from history_versions where subject in (
      select subject from history_versions where organization = any (${organizations}::text[]) and ordinal = 1)`,
  ];
};
