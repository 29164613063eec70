import { z } from 'zod';
import { conflict, defineEvents, type Decider, type EventsOf, type Message, type Timestamp } from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import { ASSESSED_COUNTS, type AssessedCounts } from '../runs/run-event.js';

/** The id of a result is the one of its run with another prefix. */
export const toResultId = (run: string): string => run.replace(/^run-/, 'asmtres-');
export const toRunId = (result: string): string => result.replace(/^asmtres-/, 'run-');

/** Counts of an assessment that has failed. */
const NO_COUNTS: AssessedCounts = {
  resourcesDrifted: 0,
  resourcesUndrifted: 0,
  checksPassed: 0,
  checksFailed: 0,
  checksErrored: 0,
  checksUnknown: 0,
};

const CHANGES = ['drifted', 'check_failure', 'failed'] as const;

const recorded = z.strictObject({
  workspace: z.string(),
  run: z.string(),
  succeeded: z.boolean(),
  counts: ASSESSED_COUNTS,
  errorMessage: z.string().nullable(),
  /** Since when the last successful assessments have found drift, and failed checks; null if the last one has not. */
  driftedSince: z.string().nullable(),
  checksFailingSince: z.string().nullable(),
  /** What the previous result did not have. */
  changes: z.array(z.enum(CHANGES)),
});

type RecordedResult = z.infer<typeof recorded>;

const toTrigger = (change: RecordedResult['changes'][number]) => `assessment:${change}` as const;

/** The result of a health assessment. A stream of its own, so that it is recorded once. */
export const assessmentEvents = defineEvents(
  {
    topic: 'runs',
    stream: 'asmtres',
    live: inWorkspace('assessment-results', 'read-runs', { field: 'workspace' }),
  },
  {
    AssessmentRecorded: {
      schema: recorded,
      audit: { unaudited: 'the server records by itself what a plan has found' },
      live: 'created',
      notifies: ({ workspace, changes }) => {
        const [trigger, also] = changes.map(toTrigger);
        return trigger === undefined ? null : { trigger, workspace, ...(also ? { also } : {}) };
      },
      ids: { refersTo: { workspace: ['ws'], run: ['run'] } },
    },
  },
);

export type AssessmentEvent = EventsOf<typeof assessmentEvents>;

/** What the result before said. */
export type PriorResult = Pick<RecordedResult, 'succeeded' | 'driftedSince' | 'checksFailingSince'> & {
  readonly isOldExecutor: boolean;
};

type RecordAssessment = Message<
  'RecordAssessment',
  {
    workspace: string;
    run: string;
    at: Timestamp;
    /** False if the plan has failed. */
    isPlanned: boolean;
    /** Null if the plan has failed, or if the executor has reported nothing about drift. */
    assessed: AssessedCounts | null;
    errorMessage: string | null;
    /** Null for the first assessment of the workspace. */
    prior: PriorResult | null;
  }
>;

/** An executor of an earlier version reports nothing about drift. */
export const OLD_EXECUTOR = 'The executor is too old: it does not report drift';

const decideFailure = ({
  workspace,
  run,
  isPlanned,
  errorMessage,
  prior,
}: RecordAssessment['data']): RecordedResult => ({
  workspace,
  run,
  succeeded: false,
  counts: NO_COUNTS,
  errorMessage: isPlanned ? OLD_EXECUTOR : (errorMessage ?? 'The plan has failed: its log says why'),
  // Nothing says that the drift is over.
  driftedSince: prior?.driftedSince ?? null,
  checksFailingSince: prior?.checksFailingSince ?? null,
  // An old executor is no news about the resources, and hides no failure that follows.
  changes: isPlanned || (prior?.succeeded === false && !prior.isOldExecutor) ? [] : ['failed'],
});

/** Returns since when something is so, and whether it was not so before. */
const compare = (isSo: boolean, before: Timestamp | null | undefined, at: Timestamp) => ({
  since: isSo ? (before ?? at) : null,
  begins: isSo && !before,
});

const decideSuccess = (
  { workspace, run, at, prior }: RecordAssessment['data'],
  assessed: AssessedCounts,
): RecordedResult => {
  const drift = compare(assessed.resourcesDrifted > 0, prior?.driftedSince, at);
  const failures = compare(assessed.checksFailed + assessed.checksErrored > 0, prior?.checksFailingSince, at);
  const changes = [
    ...(drift.begins ? (['drifted'] as const) : []),
    ...(failures.begins ? (['check_failure'] as const) : []),
  ];
  return {
    workspace,
    run,
    succeeded: true,
    counts: assessed,
    errorMessage: null,
    driftedSince: drift.since,
    checksFailingSince: failures.since,
    changes,
  };
};

export const assessment: Decider<{ readonly status: 'absent' | 'recorded' }, RecordAssessment, AssessmentEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    RecordAssessment: (data, { status }) => {
      if (status !== 'absent') throw conflict('The assessment is recorded already');
      const result = data.assessed ? decideSuccess(data, data.assessed) : decideFailure(data);
      return [{ type: 'AssessmentRecorded', data: result }];
    },
  },
  evolve: { AssessmentRecorded: () => ({ status: 'recorded' }) },
};
