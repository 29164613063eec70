import type { Principal } from '#platform/kernel';
import { ASSESSMENT } from '../runs/run-event.js';
import type { ServerRun } from '../runs/server-runs.operation.js';
import { LACKS_REFRESH_ONLY } from './due-assessments.queries.js';

type NewAssessment = { readonly id: string; readonly workspace: string; readonly createdBy: Principal };

/** Returns the run of an assessment: a plan that only refreshes, if the workspace is not busy and its terraform has such plans. */
export const describeAssessment = (assessment: NewAssessment): ServerRun => ({
  ...assessment,
  message: 'Health assessment',
  source: ASSESSMENT,
  decideOptions: ({ isBusy, terraformVersion }) =>
    isBusy || new RegExp(LACKS_REFRESH_ONLY).test(terraformVersion) ? null : { planOnly: true, refreshOnly: true },
});
