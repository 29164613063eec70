import type {
  CurrentLock,
  HistoryChange,
  HistoryLookup,
  OrganizationRecordedEvent,
  RunHistory,
  SubjectChange,
  SubjectData,
} from '#platform/kernel';
import { createNextVersion, type LatestSubjectVersion, type NewSubjectVersion } from './subject-versions.js';

/** Collects what a batch of events adds to the history, starting from the state that the batch needs. */
export class HistoryWriter implements HistoryLookup {
  readonly versions: (NewSubjectVersion & LatestSubjectVersion)[] = [];
  /** Locks to add and to remove. A lock that begins and ends in one batch is in neither. */
  readonly currentLocks: CurrentLock[] = [];
  readonly endedLocks: Omit<CurrentLock, 'id'>[] = [];
  /** Deleted organizations, whose complete history is removed. */
  readonly forgotten: string[] = [];
  private readonly latestVersions: Map<string, LatestSubjectVersion>;
  private readonly runs: Map<string, RunHistory>;
  private readonly touched = new Set<string>();

  constructor(latest: readonly LatestSubjectVersion[], runs: readonly RunHistory[]) {
    this.latestVersions = new Map(latest.map((one) => [one.subject, one]));
    this.runs = new Map(runs.map((one) => [one.run, one]));
  }

  of(subject: string): SubjectData | null {
    return this.latestVersions.get(subject)?.fullData ?? null;
  }

  ofDeleted(subject: string): SubjectData | null {
    return this.latestVersions.get(subject)?.dataBeforeEnd ?? null;
  }

  run(id: string): RunHistory | null {
    return this.runs.get(id) ?? null;
  }

  listWorkspacesUsing(sshKey: string): readonly string[] {
    return [...this.latestVersions.values()].flatMap(({ subject, fullData }) =>
      fullData?.['sshKey'] === sshKey ? [subject] : [],
    );
  }

  get changedRuns(): readonly RunHistory[] {
    return [...this.touched].flatMap((id) => this.runs.get(id) ?? []);
  }

  add(change: HistoryChange, event: OrganizationRecordedEvent): void {
    // Locking does not check the organization's version, so a lock can be recorded after the deletion. It leaves no
    // row.
    if (this.forgotten.includes(event.organization)) return;
    if ('initialData' in change) this.addVersion({ subject: change.subject, patch: change.initialData }, event);
    else if ('patch' in change) {
      if (this.of(change.subject)) this.addVersion(change, event);
    } else if ('run' in change) {
      this.runs.set(change.run.run, change.run);
      this.touched.add(change.run.run);
    } else if ('locking' in change) this.currentLocks.push(change.locking);
    else if ('unlocking' in change) this.endLock(change.unlocking);
    else this.forgotten.push(change.forgotten);
  }

  private endLock(ended: Omit<CurrentLock, 'id'>): void {
    const added = this.currentLocks.findIndex(({ workspace }) => workspace === ended.workspace);
    if (added === -1) this.endedLocks.push(ended);
    else this.currentLocks.splice(added, 1);
  }

  private addVersion(change: SubjectChange, event: OrganizationRecordedEvent): void {
    const next = createNextVersion(this.latestVersions.get(change.subject), change, event);
    this.latestVersions.set(change.subject, next);
    this.versions.push(next);
  }
}
