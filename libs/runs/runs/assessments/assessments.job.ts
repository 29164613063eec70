import { Logger } from '@nestjs/common';
import type { Clock, Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import type { ToolReleases } from '#workspaces/workspaces';
import { ASSESSMENT } from '../runs/run-event.js';
import { deriveId } from '../runs/runs.ids.js';
import { createServerRun } from '../runs/server-runs.operation.js';
import { LACKS_REFRESH_ONLY, listDueAssessments, type DueAssessment } from './assessments.view.js';

const EVERY_MS = 60_000;
const HOUR_SECONDS = 3_600;
/** If an organization switches assessments on for all its workspaces, they begin little by little. */
const MAX_STARTED = 100;

type AssessmentsDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly releases: ToolReleases;
};

const logger = new Logger('Assessments');

/** Resolves to false if the workspace is busy, or cannot be assessed. */
const start = (
  { store, ids, releases }: AssessmentsDependencies,
  { workspace, period }: DueAssessment,
): Promise<boolean> =>
  createServerRun(
    store,
    releases,
    {
      // One assessment in each period, also if several processes start it.
      id: deriveId('run', `assessment ${workspace} ${period}`),
      workspace,
      message: 'Health assessment',
      source: ASSESSMENT,
      createdBy: 'health assessments',
      decideOptions: ({ isBusy, terraformVersion }) =>
        isBusy || new RegExp(LACKS_REFRESH_ONLY).test(terraformVersion) ? null : { planOnly: true, refreshOnly: true },
    },
    createSystemContext('health assessments', ids.uuid()),
  );

/**
 * Starts the health assessments that are due: plans that only refresh. A failure does not prevent the others; the first error becomes
 * the cause of the thrown one.
 */
export const createAssessmentsJob = (dependencies: AssessmentsDependencies, hours: number): ScheduledJob => ({
  name: 'assessments',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const now = dependencies.clock.now().toISOString();
    const due = await listDueAssessments(dependencies.store.database, now, hours * HOUR_SECONDS);
    const failures: unknown[] = [];
    let started = 0;
    for (const one of due) {
      if (signal.aborted || started >= MAX_STARTED) break;
      try {
        if (!(await start(dependencies, one))) continue;
        started += 1;
        done();
      } catch (error) {
        logger.warn('A health assessment could not start', { workspace: one.workspace });
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new Error(`Failed health assessments: ${failures.length}`, { cause: failures[0] });
  },
});
