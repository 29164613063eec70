import { formatTimestamp, type RecordedEvent } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { decideWrite, expectVersion, newStream, type EventStore, type Follower } from '#storage/event-store';
import { COOL_OFF_MS, cancelRun } from '../runs/change-run.operation.js';
import { assessment } from './assessment.js';
import { findEndedAssessment, selectEndedAssessments, selectOvertakenAssessments } from './assessments.view.js';

const FOLLOWED = ['RunCreated', 'RunPlannedAndFinished', 'RunErrored'];

/** An executor of an earlier version reports nothing about drift. */
const OLD_EXECUTOR = 'The executor is too old: it does not report drift';

const createContext = (cause: RecordedEvent | undefined) => ({
  ...createSystemContext('health assessments', cause?.context.correlation ?? ''),
  causation: cause?.id ?? null,
});

const recordResult = (store: EventStore, run: string, cause: RecordedEvent | undefined): Promise<void> =>
  store.retryOnConflict(async () => {
    const ended = await findEndedAssessment(store.database, run);
    if (!ended) return;
    const { workspace, organization, assessed, isPlanned, errorMessage, prior } = ended;
    const id = run.replace(/^run-/, 'asmtres-');
    const command = {
      type: 'RecordAssessment',
      data: {
        workspace,
        run,
        at: cause?.time ?? '',
        assessed: isPlanned ? assessed : null,
        errorMessage: isPlanned ? OLD_EXECUTOR : errorMessage,
        prior,
      },
    } as const;
    const writes = [
      expectVersion(organization, ended.organizationVersion),
      expectVersion(workspace, ended.workspaceVersion),
      decideWrite(assessment, newStream(id, assessment), organization, command),
    ];
    await store.append(writes, createContext(cause));
  });

/**
 * Records the results of health assessments, and cancels assessments whose workspaces get a run. It reads the current state instead
 * of trusting the events, so a repeated batch has no effect.
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
      events.filter(({ type }) => FOLLOWED.includes(type)).map((event) => [event.stream, event] as const),
    );
    if (causes.size === 0) return [];
    const runs = [...causes.keys()];
    for (const { id } of await session.run<{ id: string }>(selectEndedAssessments(runs))) {
      await recordResult(store, id, causes.get(id));
    }
    const overtaken = await session.run<{ id: string; cause: string }>(selectOvertakenAssessments(runs));
    for (const { id, cause } of overtaken) {
      const event = causes.get(cause);
      const forceCancelAvailableAt = formatTimestamp(Date.parse(event?.time ?? '') + COOL_OFF_MS);
      await cancelRun(store, id, { forceCancelAvailableAt }, createContext(event));
    }
    return [];
  },
};
