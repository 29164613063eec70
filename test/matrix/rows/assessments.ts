import { recordAssessment, toAssessmentId } from '../../support/assessments.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixWorld } from '../shared-world.js';
import { onTheWorkspace, organization, workspace } from '../targets.js';

const results = new WeakMap<object, Promise<string>>();

/** Records a result for the shared workspace. */
export const setUpSharedAssessment = async ({ server, acme, one }: MatrixWorld): Promise<void> => {
  if (!results.has(server)) results.set(server, recordAssessment(server, { organization: acme.id, workspace: one }));
  await results.get(server);
};

/** The result exists from the first row on. */
const recorded = { setUp: setUpSharedAssessment };

const result: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { one }) => ({ id: toAssessmentId(one) }),
};

const readDocument = (name: string, status: number): MatrixRow => ({
  route: `GET /assessment-results/:id/${name}`,
  about: result,
  demands: ['read-runs', 'read-plan-output'],
  status,
  ...recorded,
});

export const assessmentRows: readonly MatrixRow[] = [
  {
    route: 'GET /workspaces/:id/current-assessment-result',
    about: workspace,
    demands: ['read-runs'],
    status: 200,
    ...recorded,
  },
  {
    route: 'GET /organizations/:organization/assessment-results',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    shows: ({ caller, world, may }) => (may('read-runs', onTheWorkspace(caller, world)) ? ['one'] : []),
    nameOf: ({ attributes }) => attributes['workspace-name'] as string,
    ...recorded,
  },
  {
    route: 'POST /workspaces/:id/actions/assess',
    about: workspace,
    demands: ['read-runs', 'update-workspace'],
    // Its assessments are off.
    status: 409,
    trail: [],
    successes: 'libs/runs/runs/assessments/on-demand-assessments.spec.ts',
  },
  { route: 'GET /assessment-results/:id', about: result, demands: ['read-runs'], status: 200, ...recorded },
  // Nobody has executed the plan: assessments.job.spec.ts reads the documents.
  readDocument('json-output', 204),
  readDocument('json-schema', 204),
  readDocument('log-output', 307),
];
