import { it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { assessment, type AssessmentEvent, type PriorResult } from './assessment.js';

const { given } = specify(assessment);

const BEFORE = '2026-11-20T10:00:00.000Z';
const NOW = '2026-11-21T10:00:00.000Z';

type Recorded = AssessmentEvent['data'];

const NONE: Recorded['counts'] = {
  resourcesDrifted: 0,
  resourcesUndrifted: 3,
  checksPassed: 1,
  checksFailed: 0,
  checksErrored: 0,
  checksUnknown: 0,
};
const DRIFT = { ...NONE, resourcesDrifted: 1, resourcesUndrifted: 2 };
const FAILURE = { ...NONE, checksPassed: 0, checksErrored: 1 };
const HEALTHY: PriorResult = { succeeded: true, isOldExecutor: false, driftedSince: null, checksFailingSince: null };
const FAILED: PriorResult = { ...HEALTHY, succeeded: false };

const record = (
  assessed: Recorded['counts'] | null,
  prior: PriorResult | null,
  errorMessage: string | null = null,
  isPlanned = assessed !== null,
) => ({
  type: 'RecordAssessment' as const,
  data: { workspace: 'ws-1', run: 'run-1', at: NOW, isPlanned, assessed, errorMessage, prior },
});

const recorded = (result: Partial<Recorded>): AssessmentEvent => ({
  type: 'AssessmentRecorded',
  data: {
    workspace: 'ws-1',
    run: 'run-1',
    succeeded: true,
    counts: NONE,
    errorMessage: null,
    driftedSince: null,
    checksFailingSince: null,
    changes: [],
    ...result,
  },
});

const failed = (result: Partial<Recorded>): AssessmentEvent =>
  recorded({ succeeded: false, counts: { ...NONE, resourcesUndrifted: 0, checksPassed: 0 }, ...result });

it('changes nothing if the first one finds nothing', () => given().when(record(NONE, null)).yields(recorded({})));

it('says that resources have drifted when the first one finds it, and not again', () => {
  const drifted = recorded({ counts: DRIFT, driftedSince: NOW, changes: ['drifted'] });
  given().when(record(DRIFT, null)).yields(drifted);
  given().when(record(DRIFT, HEALTHY)).yields(drifted);
  given()
    .when(record(DRIFT, { ...HEALTHY, driftedSince: BEFORE }))
    .yields(recorded({ counts: DRIFT, driftedSince: BEFORE }));
});

it('says again that resources have drifted after an assessment without drift', () => {
  given()
    .when(record(NONE, { ...HEALTHY, driftedSince: BEFORE }))
    .yields(recorded({}));
});

it('says that checks fail when they begin to, also if they cannot be evaluated', () => {
  given()
    .when(record(FAILURE, HEALTHY))
    .yields(recorded({ counts: FAILURE, checksFailingSince: NOW, changes: ['check_failure'] }));
  given()
    .when(record(FAILURE, { ...HEALTHY, checksFailingSince: BEFORE }))
    .yields(recorded({ counts: FAILURE, checksFailingSince: BEFORE }));
});

it('says both at once', () => {
  const counts = { ...DRIFT, checksFailed: 1 };
  const changes = ['drifted', 'check_failure'] as const;
  given()
    .when(record(counts, HEALTHY))
    .yields(recorded({ counts, driftedSince: NOW, checksFailingSince: NOW, changes }));
});

it('says that it has failed, and not again, and keeps what was known', () => {
  given()
    .when(record(null, null, 'no credentials'))
    .yields(failed({ errorMessage: 'no credentials', changes: ['failed'] }));
  given()
    .when(record(null, { ...FAILED, driftedSince: BEFORE, checksFailingSince: BEFORE }))
    .yields(
      failed({
        errorMessage: 'The plan has failed: its log says why',
        driftedSince: BEFORE,
        checksFailingSince: BEFORE,
      }),
    );
});

it('says nothing new about a plan whose executor reports no drift', () => {
  const errorMessage = 'The executor is too old: it does not report drift';
  given()
    .when(record(null, { ...HEALTHY, driftedSince: BEFORE }, null, true))
    .yields(failed({ errorMessage, driftedSince: BEFORE }));
});

it('says that it has failed also after a plan whose executor reports no drift', () => {
  given()
    .when(record(null, { ...FAILED, isOldExecutor: true }, 'no credentials'))
    .yields(failed({ errorMessage: 'no credentials', changes: ['failed'] }));
});

it('does not say again that resources have drifted if only an assessment between failed', () => {
  given()
    .when(record(DRIFT, { ...FAILED, driftedSince: BEFORE }))
    .yields(recorded({ counts: DRIFT, driftedSince: BEFORE }));
});

it('is recorded once', () => {
  given(recorded({})).when(record(NONE, null)).refuses('conflict', 'recorded already');
});
