import { Logger } from '@nestjs/common';
import { formatTimestamp, type Clock, type EventContext, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { readLags, type EventStore } from '#storage/event-store';
import type { JobRun, ScheduledJob } from '#platform/postgres';
import type { ToolReleases } from '#workspaces/workspaces';
import { cancelRun } from '../runs/change-run.operation.js';
import { ASSESSMENTS } from '../runs/run-event.js';
import { deriveId } from '../runs/runs.ids.js';
import { createAssessment } from './create-assessment.operation.js';
import { listDueHashes, type DueHashes } from './assessment-schedule.js';
import { listDisplacedAssessments } from './displaced-assessments.queries.js';
import { assessmentsFollower } from './assessments.follower.js';
import {
  countWaiting,
  isUpgrading,
  MAX_WAITING,
  listDueAssessments,
  listOutdatedAssessments,
  readBegin,
  type DueAssessment,
} from './due-assessments.queries.js';

const EVERY_MS = 60_000;
const HOUR_SECONDS = 3_600;
/** Assessments that the job starts in a minute. */
const MAX_STARTED = 100;
/** Assessments of the site that wait for an executor: each claim reads them. */
const MAX_WAITING_OF_SITE = 500;
const MAX_CANCELED = 500;
/** An idle executor claims a run within a few seconds. */
const MAX_DELAY_SECONDS = 30;
/** A follower that is further behind cancels no assessments in time. */
const MAX_LAG_SECONDS = 60;

type AssessmentsDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly releases: ToolReleases;
  /** See `SiteRunLimit`. */
  readonly siteRunsPerOrganization: number | null;
};

const logger = new Logger('Assessments');

/** Creates the assessment of the workspace. Resolves to false if the workspace is busy, or cannot be assessed. */
const start = (
  { store, releases }: AssessmentsDependencies,
  { workspace }: DueAssessment,
  period: number,
  context: EventContext,
): Promise<boolean> =>
  createAssessment(
    store,
    releases,
    {
      // One assessment in each period, also if several processes start it.
      id: deriveId('run', `assessment ${workspace} ${period}`),
      workspace,
      createdBy: context.accessor,
    },
    context,
  );

/** One run of the job. A failure does not prevent the others; the first error becomes the cause of the thrown one. */
class AssessmentsRound {
  private readonly failures: unknown[] = [];
  private readonly context: EventContext;
  private readonly nowMs: number;

  constructor(
    private readonly dependencies: AssessmentsDependencies,
    private readonly round: JobRun,
  ) {
    this.context = createSystemContext(ASSESSMENTS, dependencies.ids.uuid());
    this.nowMs = dependencies.clock.now().getTime();
  }

  /** `periodSeconds` is null if the operator has switched assessments off. */
  async run(periodSeconds: number | null): Promise<void> {
    const { database } = this.dependencies.store;
    await this.cancelOutdated(periodSeconds);
    await this.cancelDisplaced();
    if (periodSeconds !== null && !(await isUpgrading(database)) && !(await this.isFollowerBehind())) {
      await this.startDue(periodSeconds);
    }
    const [cause] = this.failures;
    if (cause) throw new Error(`Failed health assessments: ${this.failures.length}`, { cause });
  }

  private async isFollowerBehind(): Promise<boolean> {
    const lags = await readLags(this.dependencies.store.database, [assessmentsFollower.name]);
    return lags.some(({ seconds }) => seconds > MAX_LAG_SECONDS);
  }

  private secondsAgo(seconds: number): string {
    return formatTimestamp(this.nowMs - seconds * 1_000);
  }

  private async cancelOutdated(periodSeconds: number | null): Promise<void> {
    const before = this.secondsAgo(periodSeconds ?? 0);
    const query = { before, isOff: periodSeconds === null, limit: MAX_CANCELED };
    await this.cancel(await listOutdatedAssessments(this.dependencies.store.database, query));
  }

  private async cancelDisplaced(): Promise<void> {
    const { store, siteRunsPerOrganization } = this.dependencies;
    const since = this.secondsAgo(MAX_DELAY_SECONDS);
    await this.cancel(await listDisplacedAssessments(store.database, siteRunsPerOrganization, since, MAX_CANCELED));
  }

  private async cancel(assessments: readonly { readonly id: string }[]): Promise<void> {
    const now = new Date(this.nowMs);
    for (const { id } of assessments) {
      if (this.round.signal.aborted) return;
      await this.attempt(id, () => cancelRun(this.dependencies.store, id, now, this.context));
    }
  }

  private async startDue(periodSeconds: number): Promise<void> {
    const { database } = this.dependencies.store;
    const begun = await readBegin(database, this.secondsAgo(0));
    const waiting = await countWaiting(database);
    const hashes = listDueHashes(new Date(this.nowMs), periodSeconds);
    // Half of a period is more than the time for which a workspace is tried again, and less than the time to the next one.
    const since = this.secondsAgo(periodSeconds / 2);
    let inTotal = [...waiting.values()].reduce((sum, number) => sum + number, 0);
    let started = 0;
    for await (const { period, ...due } of listDue(database, hashes, { since, begun })) {
      if (this.round.signal.aborted || started >= MAX_STARTED || inTotal >= MAX_WAITING_OF_SITE) return;
      const { organization } = due;
      const before = waiting.get(organization) ?? 0;
      if (before >= MAX_WAITING) continue;
      if (!(await this.attempt(due.workspace, () => start(this.dependencies, due, period, this.context)))) continue;
      started += 1;
      inTotal += 1;
      waiting.set(organization, before + 1);
      this.round.done();
    }
  }

  private async attempt<T>(subject: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      logger.warn('A health assessment could not start or be canceled', { subject });
      this.failures.push(error);
      return undefined;
    }
  }
}

async function* listDue(
  database: EventStore['database'],
  hashes: readonly DueHashes[],
  times: Parameters<typeof listDueAssessments>[2],
): AsyncGenerator<DueAssessment & Pick<DueHashes, 'period'>> {
  for (const range of hashes) {
    for await (const due of listDueAssessments(database, range, times)) yield { ...due, period: range.period };
  }
}

/**
 * Starts the health assessments that are due: plans that only refresh. Cancels those that no executor has claimed in a period, and
 * those whose workspaces cannot be assessed any more. If `hours` is null, it cancels all, and starts none.
 */
export const createAssessmentsJob = (dependencies: AssessmentsDependencies, hours: number | null): ScheduledJob => ({
  name: 'assessments',
  everyMs: EVERY_MS,
  run: (round) => new AssessmentsRound(dependencies, round).run(hours === null ? null : hours * HOUR_SECONDS),
});
