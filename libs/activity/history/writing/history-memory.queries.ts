import { sql, type Sql, type RunHistory } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { HistoryWriter } from './history-writer.js';
import type { LatestSubjectVersion } from './subject-versions.js';
import { selectCompleteData } from './versions.queries.js';

/** The state of subjects and runs by id; null if the history does not have them. */
type RememberedStates<T> = Map<string, T | null>;

type FoundStates = {
  readonly latestVersions: readonly LatestSubjectVersion[];
  readonly runs: readonly RunHistory[];
};

/** A workspace takes about 3 KB. */
const MAX_REMEMBERED = 10_000;

const isRun = (id: string): boolean => id.startsWith('run-');

/**
 * The latest versions of subjects and the states of runs, as one or more batches have read or written them. A replay
 * uses one memory for all its batches, because no other process writes its tables. The follower uses a new one for each
 * batch: the names in it are valid only while the batch runs.
 */
export class HistoryMemory {
  private readonly latestVersions: RememberedStates<LatestSubjectVersion> = new Map();
  private readonly runs: RememberedStates<RunHistory> = new Map();

  /** Returns those of the subjects and runs that the history has. Reads only those that the memory does not contain. */
  async find(ids: ReadonlySet<string>, session: Pick<DatabaseSession, 'run'>): Promise<FoundStates> {
    const [runs, subjects] = [[...ids].filter(isRun), [...ids].filter((id) => !isRun(id))];
    const [missingRuns, missingSubjects] = [
      selectMissing(this.runs, runs),
      selectMissing(this.latestVersions, subjects),
    ];
    const [readVersions, readRuns] = await Promise.all([
      missingSubjects.length > 0 ? session.run<LatestSubjectVersion>(selectLatestVersions(missingSubjects)) : [],
      missingRuns.length > 0 ? session.run<RunHistory>(selectRuns(missingRuns)) : [],
    ]);
    const versionsBySubject = new Map(readVersions.map((one) => [one.subject, restoreUpdatedAt(one)]));
    const runsById = new Map(readRuns.map((one) => [one.run, one]));
    for (const id of missingSubjects) this.latestVersions.set(id, versionsBySubject.get(id) ?? null);
    for (const id of missingRuns) this.runs.set(id, runsById.get(id) ?? null);
    return {
      latestVersions: subjects.flatMap((id) => this.latestVersions.get(id) ?? []),
      runs: runs.flatMap((id) => this.runs.get(id) ?? []),
    };
  }

  /** Adds the changes of a batch. */
  add({ versions, changedRuns, forgotten }: HistoryWriter): void {
    for (const { subject, ordinal, since, isBase, data, fullData, dataBeforeEnd } of versions)
      setLatest(this.latestVersions, subject, { subject, ordinal, since, isBase, data, fullData, dataBeforeEnd });
    for (const run of changedRuns) setLatest(this.runs, run.run, run);
    // The history of these organizations is deleted.
    if (forgotten.length > 0) {
      this.latestVersions.clear();
      this.runs.clear();
    }
    dropOldest(this.latestVersions);
    dropOldest(this.runs);
  }
}

const selectMissing = (states: RememberedStates<unknown>, ids: readonly string[]): readonly string[] =>
  ids.filter((id) => !states.has(id));

/** The oldest states come first. */
const setLatest = <T>(states: RememberedStates<T>, id: string, state: T): void => {
  states.delete(id);
  states.set(id, state);
};

const dropOldest = (states: RememberedStates<unknown>): void => {
  for (const id of states.keys()) {
    if (states.size <= MAX_REMEMBERED) return;
    states.delete(id);
  }
};

/** Adds the time of the last update of a workspace, which is not stored if it is the time of the version. */
const restoreUpdatedAt = (version: LatestSubjectVersion): LatestSubjectVersion => {
  const { fullData, since } = version;
  if (!fullData || fullData['updatedAt'] !== undefined || fullData['createdAt'] === undefined) return version;
  return { ...version, fullData: { ...fullData, updatedAt: since } };
};

const selectLatestVersions = (subjects: readonly string[]): Sql => sql`
  select h.subject, h.ordinal, h.since, h.frame is not distinct from h.ordinal as "isBase", h.data,
         ${selectCompleteData('h')} as "fullData",
         case when h.data is null then (
           select ${selectCompleteData('last')} from (
             select * from history_versions before
              where before.subject = h.subject and (before.since, before.ordinal) < (h.since, h.ordinal)
              order by before.since desc, before.ordinal desc limit 1) last) end as "dataBeforeEnd"
    from (select distinct id from unnest(${subjects}::text[]) as id) named
    cross join lateral (select * from history_versions where subject = named.id
                         order by since desc, ordinal desc limit 1) h`;

const selectRuns = (runs: readonly string[]): Sql => sql`
  select run, workspace, organization, queues, created_at as "createdAt", status, reached, finished_at as "finishedAt"
    from history_runs where run = any (${runs}::text[])`;
