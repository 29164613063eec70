import { toOne, type Resource } from '#api/json-api';
import type { AssessmentRow } from './assessments.view.js';

/** The message has two names: one in the vendor's documentation, one in the vendor's description of the API. */
export const renderAssessment = ({ counts, ...row }: AssessmentRow): Resource => ({
  id: row.id,
  type: 'assessment-results',
  attributes: {
    'all-checks-succeeded': row.succeeded && counts.checksFailed + counts.checksErrored === 0,
    'checks-errored': counts.checksErrored,
    'checks-failed': counts.checksFailed,
    'checks-passed': counts.checksPassed,
    'checks-unknown': counts.checksUnknown,
    'created-at': row.createdAt,
    drifted: row.drifted,
    'drifted-since': row.driftedAt,
    'error-message': row.errorMessage,
    'error-msg': row.errorMessage,
    'resources-drifted': counts.resourcesDrifted,
    'resources-undrifted': counts.resourcesUndrifted,
    succeeded: row.succeeded,
    'workspace-name': row.workspaceName,
  },
  relationships: {
    run: toOne('runs', row.run, `/api/v2/runs/${row.run}`),
    workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
  },
  links: { self: `/api/v2/assessment-results/${row.id}` },
});
