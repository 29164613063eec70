import {
  listEventTypes,
  sql,
  getOriginalTime,
  type EventRegistry,
  type OrganizationDeleted,
  type OrganizationRecordedEvent,
  type RecordedEvent,
  type RunHistory,
  type Sql,
} from '#platform/kernel';
import { hasOrganizationName } from '#api/access';
import { waitForFollower, type EventStore, type Follower } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import type { PresentSubject } from '#api/json-api';
import { encodeFields } from './history.field-codes.js';
import { HistoryMemory } from './history-memory.queries.js';
import { HistoryWriter } from './history-writer.js';
import type { NewSubjectVersion, LatestSubjectVersion } from './subject-versions.js';
import { HAS_CHANGED_SSH_KEY } from './versions.queries.js';

const FOLLOWER_NAME = 'workspace_history';
const ORGANIZATION_DELETED: OrganizationDeleted['type'] = 'OrganizationDeleted';

/**
 * Maximum length in characters. An index contains the name and has no room for long ones, such as the description of an
 * agent token.
 */
export const MAX_ACTOR_NAME_LENGTH = 100;

const listHistoryTypes = (registry: EventRegistry): readonly string[] =>
  listEventTypes(registry, ({ history }) => history !== undefined);

/** Writes the history. A batch takes the same few statements, however many events it has. */
export const createHistoryFollower = (registry: EventRegistry): Follower => ({
  name: FOLLOWER_NAME,
  batch: 500,
  only: listHistoryTypes(registry),
  // Deletes the complete history of the organization.
  slow: [ORGANIZATION_DELETED],
  version: 4,
  tables: ['history_versions', 'history_runs', 'history_locks'],
  names: [
    { table: 'history_versions', column: 'actor_name', id: 'actor_id' },
    { table: 'history_versions', column: 'data', at: ['lock', 'holder'] },
    // Rows of version 1.
    { table: 'history_locks', column: 'holder' },
    { table: 'history_locks', column: 'unlocked_by' },
  ],
  follow: (events, session) => follow(registry, events, session, new HistoryMemory()),
  createReplay: () => {
    const memory = new HistoryMemory();
    return (events, session) => follow(registry, events, session, memory);
  },
});

const follow = async (
  registry: EventRegistry,
  events: readonly RecordedEvent[],
  session: Pick<DatabaseSession, 'run'>,
  memory: HistoryMemory,
): Promise<readonly Sql[]> => {
  const relevant = events
    .filter(
      (event): event is OrganizationRecordedEvent =>
        registry[event.type]?.history !== undefined && event.organization !== null,
    )
    .map((event) => ({ ...event, time: getOriginalTime(event) }));
  if (relevant.length === 0) return [];
  const writer = await loadHistoryWriter(relevant, session, memory);
  for (const event of relevant) {
    const changes = registry[event.type]?.history?.(event.data as never, event, writer) ?? [];
    for (const change of changes) writer.add(change, event);
  }
  memory.add(writer);
  return buildStatements(writer);
};

const selectOrganization = (subject: PresentSubject): Sql => {
  if ('workspace' in subject) return sql`(select organization from workspaces where id = ${subject.workspace})`;
  if ('project' in subject) return sql`(select organization from projects where id = ${subject.project})`;
  return sql`(select id from organizations where ${hasOrganizationName('organizations', subject.organization)})`;
};

/**
 * Resolves when the history contains everything that was written before the call for the organization of the subject,
 * or for all organizations if the subject no longer exists.
 */
export const waitForHistory = ({ database, kinds }: EventStore, subject: PresentSubject): Promise<void> =>
  waitForFollower(database, FOLLOWER_NAME, {
    only: listHistoryTypes(kinds),
    organization: selectOrganization(subject),
  });

/** Returns the subjects that an event names: the resource itself, and its workspace, owner or target. */
const listSubjects = ({ stream, data }: RecordedEvent): readonly string[] => {
  const { workspace, owner, target } = data as { workspace?: string; owner?: { id: string }; target?: { id: string } };
  return [stream, workspace, owner?.id, target?.id].filter((id) => id !== undefined);
};

const KEY_DELETED = 'SshKeyDeleted';

/**
 * Reads the state of all subjects of the events, and of subjects that those refer to: the workspace of a run, the owner
 * of a policy, the current run of a workspace.
 */
const loadHistoryWriter = async (
  events: readonly OrganizationRecordedEvent[],
  session: Pick<DatabaseSession, 'run'>,
  memory: HistoryMemory,
): Promise<HistoryWriter> => {
  const keys = events.filter(({ type }) => type === KEY_DELETED).map(({ stream }) => stream);
  const users = keys.length > 0 ? await session.run<{ subject: string }>(selectWorkspacesEverUsing(keys)) : [];
  const loaded = { latestVersions: new Map<string, LatestSubjectVersion>(), runs: new Map<string, RunHistory>() };
  const requested = new Set<string>();
  let pending = new Set([...events.flatMap(listSubjects), ...users.map(({ subject }) => subject)]);
  while (pending.size > 0) {
    for (const id of pending) requested.add(id);
    const { latestVersions, runs } = await memory.find(pending, session);
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
    pending = new Set(references.filter((id): id is string => typeof id === 'string' && !requested.has(id)));
  }
  return new HistoryWriter([...loaded.latestVersions.values()], [...loaded.runs.values()]);
};

/** Selects workspaces that have ever used one of these keys, because they may still use it. */
const selectWorkspacesEverUsing = (keys: readonly string[]): Sql => sql`
  select subject from history_versions
   where data ->> 'sshKey' = any (${keys}::text[]) and ${HAS_CHANGED_SSH_KEY}
   union
  select subject from history_versions
   where data ->> 'sshKey' = any (${keys}::text[]) and 'ssh-key' = any (changed)`;

/**
 * Always returns the first statement, because the transaction that stores the checkpoint needs one, and readers wait
 * for the checkpoint.
 */
const buildStatements = (writer: HistoryWriter): readonly Sql[] => {
  const { versions, changedRuns, currentLocks, endedLocks, forgotten } = writer;
  return [
    insertVersions(versions),
    ...(changedRuns.length > 0 ? [upsertRuns(changedRuns)] : []),
    ...(endedLocks.length > 0 ? [deleteEndedLocks(endedLocks)] : []),
    ...(currentLocks.length > 0 ? [insertLocks(currentLocks)] : []),
    ...(forgotten.length > 0 ? deleteHistory(forgotten) : []),
  ];
};

/** The first version of a subject also has its organization and its kind. The log has the rest (005_slim_versions.sql). */
const insertVersions = (versions: readonly NewSubjectVersion[]): Sql => {
  const rows = versions.map(({ subject, ordinal, since, isBase, data, changed, marks, organization, event }) => ({
    subject,
    ordinal,
    since,
    ...(isBase ? { frame: ordinal } : {}),
    data,
    fields: encodeFields([...changed, ...marks]),
    event: event.id,
    ...(ordinal === 1 ? { organization, type: event.type } : {}),
    actor: event.context.accessor,
  }));
  return sql`
    insert into history_versions (subject, ordinal, organization, since, frame, data, fields, event, type,
                                  actor_type, actor_id, actor_name)
    select subject, ordinal, organization, since, frame, data, fields, event, type, actor ->> 'type', actor ->> 'id',
           left(actor ->> 'name', ${MAX_ACTOR_NAME_LENGTH})
      from jsonb_to_recordset(${sql.json(rows)}::jsonb) as list (
        subject text, ordinal bigint, organization text, since timestamptz, frame bigint, data jsonb, fields text,
        event uuid, type text, actor jsonb)`;
};

const upsertRuns = (runs: readonly RunHistory[]): Sql => sql`
  insert into history_runs (run, workspace, organization, queues, created_at, status, reached, finished_at)
  select run, workspace, organization, queues, "createdAt", status, reached, "finishedAt"
    from jsonb_to_recordset(${sql.json(runs)}::jsonb) as list (
      run text, workspace text, organization text, queues boolean, "createdAt" timestamptz, status text, reached jsonb,
      "finishedAt" timestamptz)
  on conflict (run) do update
    set status = excluded.status, reached = excluded.reached, finished_at = excluded.finished_at`;

const insertLocks = (locks: HistoryWriter['currentLocks']): Sql => sql`
  insert into history_locks (id, workspace, organization, locked_at)
  select id, workspace, organization, "lockedAt"
    from jsonb_to_recordset(${sql.json(locks)}::jsonb) as list (
      id uuid, workspace text, organization text, "lockedAt" timestamptz)`;

const deleteEndedLocks = (locks: HistoryWriter['endedLocks']): Sql => sql`
  delete from history_locks l
   using jsonb_to_recordset(${sql.json(locks)}::jsonb) as list (
      workspace text, organization text, "lockedAt" timestamptz)
   where l.organization = list.organization and l.locked_at = list."lockedAt" and l.workspace = list.workspace`;

/** Must run last, so that it also deletes what the batch wrote for the organization before its deletion. */
const deleteHistory = (organizations: readonly string[]): readonly Sql[] => {
  const workspaces = sql`
    select subject from history_versions
     where organization = any (${organizations}::text[]) and ordinal = 1 and type = 'WorkspaceCreated'`;
  return [
    sql`delete from history_runs where workspace in (${workspaces})`,
    sql`delete from history_locks where organization = any (${organizations}::text[])`,
    sql`
    delete from history_versions where subject in (
      select subject from history_versions where organization = any (${organizations}::text[]) and ordinal = 1)`,
  ];
};
