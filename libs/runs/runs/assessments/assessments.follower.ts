import { Logger } from '@nestjs/common';
import type { RecordedEvent } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, newStream, type EventStore, type Follower } from '#storage/event-store';
import { cancelRun } from '../runs/change-run.operation.js';
import { ASSESSMENTS, type RunEvent } from '../runs/run-event.js';
import { assessment, toResultId } from './assessment.js';
import { selectDisplacedAssessments } from './displaced-assessments.queries.js';
import { removeOldData } from './old-assessments.operation.js';
import { findEndedAssessment, selectEndedAssessments, selectOvertakenAssessments } from './assessments.view.js';

/** The events after which a run waits for an executor, or an assessment has ended. */
const FOLLOWED: readonly RunEvent['type'][] = [
  'RunCreated',
  'RunQueued',
  'RunPlanQueued',
  'RunApplyQueued',
  'RunPlanRequeued',
  'RunPlannedAndFinished',
  'RunErrored',
  'RunCanceled',
  'RunForceCanceled',
];

const logger = new Logger('Assessments');

const createContext = (cause: RecordedEvent | undefined) => ({
  ...createSystemContext(ASSESSMENTS, cause?.context.correlation ?? ''),
  causation: cause?.id ?? null,
});

const recordResult = (store: EventStore, run: string, cause: RecordedEvent | undefined): Promise<void> =>
  store.retryOnConflict(async () => {
    const ended = await findEndedAssessment(store.database, run);
    if (!ended) return;
    const { workspace, organization, assessed, isPlanned, errorMessage, prior } = ended;
    const command = {
      type: 'RecordAssessment',
      data: {
        workspace,
        run,
        at: cause?.time ?? '',
        assessed: isPlanned ? assessed : null,
        errorMessage: isPlanned ? null : errorMessage,
        isPlanned,
        prior,
      },
    } as const;
    const writes = [
      expectVersion(organization, ended.organizationVersion),
      expectVersion(workspace, ended.workspaceVersion),
      decideWrite(assessment, newStream(toResultId(run), assessment), organization, command),
    ];
    await store.append(writes, createContext(cause));
  });

const recordEnd = async (store: EventStore, run: string, cause: RecordedEvent | undefined): Promise<void> => {
  await recordResult(store, run, cause);
  await removeOldData(store, run, createContext(cause));
};

/** Logs a failure, so that it prevents no other work of the follower, and stops no other workspace. */
const attempt = async (run: string, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    logger.warn({ err: error, run, message: 'A health assessment could not be canceled, or its result not recorded' });
  }
};

/**
 * Cancels health assessments whose workspaces get a run, or whose executors are needed, and records the results of others. It
 * reads the current state instead of trusting the events, so a repeated batch has no effect.
 */
export const assessmentsFollower: Follower = {
  name: 'assessments',
  batch: 100,
  only: FOLLOWED,
  // It uses no names.
  keepEncrypted: true,
  tables: [],
  follow: async (events, session, store) => {
    const causes = new Map(
      events
        .filter(({ type }) => (FOLLOWED as readonly string[]).includes(type))
        .map((event) => [event.stream, event] as const),
    );
    if (causes.size === 0) return [];
    const runs = [...causes.keys()];
    const overtaken = await session.run<{ id: string; cause: string }>(selectOvertakenAssessments(runs));
    const displaced = await session.run<{ id: string; cause: string }>(selectDisplacedAssessments(runs));
    for (const { id, cause } of [...overtaken, ...displaced]) {
      const event = causes.get(cause);
      await attempt(id, () => cancelRun(store, id, new Date(event?.time ?? ''), createContext(event)));
    }
    for (const { id } of await session.run<{ id: string }>(selectEndedAssessments(runs))) {
      await attempt(id, () => recordEnd(store, id, causes.get(id)));
    }
    return [];
  },
};
