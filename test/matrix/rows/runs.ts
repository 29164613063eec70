import { gzipSync } from 'node:zlib';
import { makeConfigurationVersion, makeRun, reportBody, resource, runBody } from '../../support/seeds.js';
import type { MatrixCallerInWorld, MatrixWorld } from '../shared-world.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import type { MatrixTrailEntry } from '../trail.js';
import {
  besideTheWorkspace,
  freshWorkspace,
  inAcme,
  onTheWorkspace,
  organization,
  site,
  theAgent,
  createTarget,
  tokenOf,
  workspace,
} from '../targets.js';

const freshConfiguration = async (
  caller: MatrixCallerInWorld,
  world: MatrixWorld,
): Promise<{ id: string; workspace: string }> => {
  const { id } = await freshWorkspace(caller, world);
  return { id: await makeConfigurationVersion(world.server, id), workspace: id };
};

const configuration: MatrixTarget = {
  ...createTarget(onTheWorkspace, 'configuration'),
  fresh: async (caller, world) => ({ params: await freshConfiguration(caller, world) }),
};

/** A run in a fresh workspace of the caller, which waits for its plan. */
const run: MatrixTarget = {
  ...createTarget(onTheWorkspace, 'run'),
  fresh: async (caller, world) => {
    const { workspace: id } = await freshConfiguration(caller, world);
    return { params: { id: await makeRun(world.server, id) } };
  },
};

/** The plan or the apply of a run in a fresh workspace of the caller. */
const ofFreshRun = (phase: 'run' | 'plan' | 'apply'): MatrixTarget => ({
  ...createTarget(onTheWorkspace, phase),
  fresh: async (caller, world) => {
    const { workspace: id } = await freshConfiguration(caller, world);
    return { params: { id: (await makeRun(world.server, id)).replace('run-', `${phase}-`) } };
  },
});

/** A run that waits behind a run that needs a confirmation. */
const overtaking: MatrixTarget = {
  ...run,
  fresh: async (caller, world) => {
    const { workspace: id } = await freshConfiguration(caller, world);
    await planned(world, await makeRun(world.server, id));
    return { params: { id: await makeRun(world.server, id) } };
  },
};

const read = (path: string, about: MatrixTarget, status = 200): MatrixRow => ({
  route: `GET ${path}`,
  about,
  demands: ['read-runs'],
  status,
});

const DOCUMENTS = ['json-output', 'json-output-redacted', 'json-schema'] as const;

const SCHEMAS = { format_version: '1.0', provider_schemas: {} };

const readDocument = (path: string, document: (typeof DOCUMENTS)[number], about: MatrixTarget): MatrixRow => ({
  route: `GET ${path}`,
  about,
  demands: document === 'json-output-redacted' ? ['read-runs'] : ['read-runs', 'read-plan-output'],
  status: 307,
  trail: document === 'json-output' ? ['run download_plan_json'] : [],
  fresh: true,
  before: async ({ world, params }) => {
    const id = (params['id'] ?? '').replace('plan-', 'run-');
    await reportAll(world, id, 'planning');
    const plan = `/api/v2/plans/${id.replace('run-', 'plan-')}`;
    await theAgent(world).api.put(`${plan}/json-schema`, SCHEMAS);
    await theAgent(world).api.put(`${plan}/json-output`, { format_version: '1.2' });
    await reportAll(world, id, 'planned');
  },
});

const erroredState: MatrixRow = {
  route: 'GET /applies/:id/errored-state',
  about: ofFreshRun('apply'),
  demands: ['read-runs', 'read-state'],
  // No executor has stored one: errored-states.controller.spec.ts checks who can read it.
  status: 404,
  trail: [],
  fresh: true,
};

const reportAll = async (world: MatrixWorld, id: string, ...statuses: readonly string[]): Promise<void> => {
  for (const status of statuses) await theAgent(world).api.post(`/api/v2/runs/${id}/progress`, reportBody(status));
};

/** Claims this run, and those that wait before it. */
const claimUntil = async (world: MatrixWorld, run: string): Promise<void> => {
  for (let claimed: string | undefined; claimed !== run;) {
    const { body } = await theAgent(world).api.post(`/api/v2/agents/${world.agent}/actions/claim`);
    claimed = body.data.id as string;
  }
};

/** After the lists, because each row makes runs. */
const documents = DOCUMENTS.flatMap((document) => [
  readDocument(`/plans/:id/${document}`, document, ofFreshRun('plan')),
  readDocument(`/runs/:id/plan/${document}`, document, run),
]);

const reads: readonly MatrixRow[] = [
  read('/runs/:id', run),
  read('/runs/:id/plan', run),
  read('/runs/:id/apply', run),
  read('/runs/:id/comments', run),
  read('/runs/:id/run-events', run),
  read('/runs/:id/task-stages', run),
  read('/workspaces/:id/runs', workspace),
  read('/workspaces/:id/run-statistics', workspace),
  read('/plans/:id', createTarget(onTheWorkspace, 'plan')),
  read('/applies/:id', createTarget(onTheWorkspace, 'apply')),
  read('/comments/:id', createTarget(onTheWorkspace, 'comment')),
  read('/run-events/:id', createTarget(onTheWorkspace, 'runEvent')),
  read('/task-stages/:id', createTarget(onTheWorkspace, 'taskStage')),
  read('/task-results/:id', createTarget(onTheWorkspace, 'taskResult')),
  read('/task-results/:id/outcomes', createTarget(onTheWorkspace, 'taskResult')),
  read('/task-result-outcomes/:id', createTarget(onTheWorkspace, 'taskOutcome')),
  read('/task-result-outcomes/:id/body', createTarget(onTheWorkspace, 'taskOutcome')),
  read('/task-stages/:id/policy-evaluations', createTarget(onTheWorkspace, 'taskStage')),
  read('/policy-evaluations/:id', createTarget(onTheWorkspace, 'policyEvaluation')),
  read('/policy-evaluations/:id/policy-set-outcomes', createTarget(onTheWorkspace, 'policyEvaluation')),
  read('/policy-set-outcomes/:id', createTarget(onTheWorkspace, 'policySetOutcome')),
  {
    route: 'POST /task-stages/:id/actions/override',
    about: createTarget(onTheWorkspace, 'taskStage'),
    demands: ['read-runs', 'override-policies'],
    // The stage has passed. The spec overrides one that waits.
    status: 409,
    trail: [],
    successes: 'libs/runs/runs/policy-evaluations/policies-of-runs.spec.ts',
  },
  {
    route: 'PATCH /task-results/:id/callback',
    about: { ...site, params: () => ({ id: 'none' }) },
    demands: 'anybody',
    status: 401,
    trail: [],
    successes: 'libs/runs/runs/task-results/task-requests.job.spec.ts',
  },
  {
    route: 'GET /organizations/:organization/runs',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    nameOf: ({ relationships }) => relationships.workspace.data.id as string,
    shows: ({ caller, world, may }) => [
      // One run has a policy evaluation.
      ...(may('read-runs', onTheWorkspace(caller, world)) ? [world.one, world.one] : []),
      ...(may('read-runs', besideTheWorkspace(caller, world)) ? [world.beside] : []),
      ...(may('read-runs', inAcme(caller, world)) ? [world.far] : []),
    ],
  },
  {
    route: 'GET /organizations/:organization/runs/queue',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/capacity',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
  {
    route: 'GET /organizations/:organization/run-statistics',
    about: organization,
    demands: ['read-organization'],
    status: 200,
  },
];

const planned = async (world: MatrixWorld, id: string): Promise<void> => {
  for (const report of [reportBody('planning'), reportBody('planned', { 'resource-additions': 1 })])
    await theAgent(world).api.post(`/api/v2/runs/${id}/progress`, report);
};

const actions: readonly MatrixRow[] = [
  {
    route: 'POST /runs',
    about: { ...site, scope: onTheWorkspace },
    demands: ['read-runs', 'queue-run'],
    status: 201,
    trail: ['run create'],
    bodyFor: ({ world }) => runBody(world.one, { 'plan-only': true }),
  },
  {
    route: 'POST /runs',
    condition: 'a run that starts at once',
    about: { ...configuration, params: (_, { one }) => ({ workspace: one }) },
    demands: ['read-runs', 'queue-run'],
    status: 201,
    trail: ['workspace lock', 'run create'],
    fresh: true,
    bodyFor: ({ params }) => runBody(params['workspace'] ?? ''),
  },
  {
    route: 'POST /runs/:id/actions/apply',
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    trail: ['run apply'],
    fresh: true,
    before: ({ world, params }) => planned(world, params['id'] ?? ''),
  },
  {
    route: 'POST /runs/:id/actions/discard',
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    trail: ['workspace unlock', 'run discard'],
    fresh: true,
    before: ({ world, params }) => planned(world, params['id'] ?? ''),
  },
  {
    route: 'POST /runs/:id/actions/cancel',
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    trail: ['workspace unlock', 'run cancel'],
    fresh: true,
  },
  {
    route: 'POST /runs/:id/actions/force-cancel',
    about: run,
    demands: ['read-runs', 'force-cancel-run'],
    status: 202,
    trail: ['workspace force_unlock', 'run force_cancel'],
    fresh: true,
    // The run was requested to stop, and the waiting time is over.
    before: async ({ world, params: { id } }) => {
      await theAgent(world).api.post(`/api/v2/runs/${id}/progress`, reportBody('planning'));
      await world.server.post(`/api/v2/runs/${id}/actions/cancel`);
      world.pass(60_000);
    },
  },
  {
    route: 'POST /runs/:id/actions/force-execute',
    about: overtaking,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    trail: ['workspace unlock', 'workspace lock', 'run discard', 'run force_execute'],
    fresh: true,
  },
  {
    route: 'POST /runs/:id/comments',
    about: run,
    demands: ['read-runs', 'comment-run'],
    status: 201,
    trail: ['workspace_comment create'],
    body: resource('comments', { body: 'Hm.' }),
  },
  {
    route: 'POST /runs/:id/progress',
    about: { ...run, scope: inAcme },
    demands: ['execute-run'],
    status: 200,
    trail: [],
    fresh: true,
    body: reportBody('planning'),
  },
  ...(['json-schema', 'json-output'] as const).map((document): MatrixRow => ({
    route: `PUT /plans/:id/${document}`,
    about: { ...ofFreshRun('plan'), scope: inAcme },
    demands: ['execute-run'],
    status: 204,
    trail: [],
    fresh: true,
    inert: true,
    body: document === 'json-schema' ? SCHEMAS : { format_version: '1.2' },
    before: async ({ world, params: { id = '' } }) => {
      await reportAll(world, id.replace('plan-', 'run-'), 'planning');
      if (document === 'json-output') await theAgent(world).api.put(`/api/v2/plans/${id}/json-schema`, SCHEMAS);
    },
  })),
  ...(['plan', 'apply'] as const).map((phase): MatrixRow => ({
    route: `PUT /${phase === 'plan' ? 'plans' : 'applies'}/:id/log`,
    about: { ...ofFreshRun(phase), scope: inAcme },
    demands: ['execute-run'],
    status: 200,
    trail: [],
    fresh: true,
    inert: true,
    query: () => 'offset=0',
    body: 'terraform init',
    before: async ({ world, params }) => {
      const id = (params['id'] ?? '').replace(`${phase}-`, 'run-');
      if (phase === 'plan') await reportAll(world, id, 'planning');
      else {
        await planned(world, id);
        await world.server.post(`/api/v2/runs/${id}/actions/apply`);
        await reportAll(world, id, 'applying');
      }
    },
  })),
  {
    route: 'POST /runs/:id/identity-tokens',
    about: { ...ofFreshRun('run'), scope: inAcme },
    demands: ['execute-run'],
    status: 201,
    trail: ['run issue_identity_token'],
    fresh: true,
    body: resource('run-identity-tokens', { fence: 1, audience: 'aws.workload.identity' }),
    before: async ({ world, params: { id = '' } }) => {
      await claimUntil(world, id);
      // The first token of a site creates its key.
      const first = resource('run-identity-tokens', { fence: 1, audience: 'first' });
      await theAgent(world).api.post(`/api/v2/runs/${id}/identity-tokens`, first);
    },
  },
  {
    route: 'PUT /plans/:id/plan-file',
    about: { ...ofFreshRun('plan'), scope: inAcme },
    demands: ['execute-run'],
    status: 204,
    trail: [],
    fresh: true,
    inert: true,
    query: () => 'fence=1',
    body: 'plan',
    before: ({ world, params: { id = '' } }) => claimUntil(world, id.replace('plan-', 'run-')),
  },
  {
    route: 'PUT /applies/:id/errored-state',
    about: { ...ofFreshRun('apply'), scope: inAcme },
    demands: ['execute-run'],
    status: 204,
    trail: ['run store_errored_state'],
    fresh: true,
    query: () => 'fence=2',
    body: 'state',
    before: async ({ world, params }) => {
      const id = (params['id'] ?? '').replace('apply-', 'run-');
      await claimUntil(world, id);
      const report = reportBody('planned', { fence: 1, 'resource-additions': 1 });
      await theAgent(world).api.post(`/api/v2/runs/${id}/progress`, report);
      await world.server.post(`/api/v2/runs/${id}/actions/apply`);
      await claimUntil(world, id);
    },
  },
  {
    route: 'POST /runs/:id/job',
    about: { ...ofFreshRun('run'), scope: inAcme },
    demands: ['execute-run'],
    status: 200,
    trail: ['run read_job', 'authentication_token create'],
    fresh: true,
    body: resource('run-jobs', { fence: 1, nonce: 'nonce-of-the-matrix' }),
    before: ({ world, params: { id = '' } }) => claimUntil(world, id),
  },
  {
    route: 'POST /runs/:id/actions/renew-lease',
    about: { ...ofFreshRun('run'), scope: inAcme },
    demands: ['execute-run'],
    status: 200,
    trail: [],
    fresh: true,
    inert: true,
    body: resource('run-leases', { fence: 1 }),
    before: ({ world, params: { id = '' } }) => claimUntil(world, id),
  },
];

const VERSION = '/configuration-versions/:id';
const readVersion = (
  path: string,
  about: MatrixTarget,
  status = 200,
  ...trail: readonly MatrixTrailEntry[]
): MatrixRow => ({
  route: `GET ${path}`,
  about,
  demands: ['read-configuration-version'],
  status,
  trail,
});

const configurations: readonly MatrixRow[] = [
  readVersion(VERSION, configuration, 200, 'configuration_version show'),
  readVersion(`${VERSION}/download`, configuration, 302, 'configuration_version download'),
  // Uploaded configuration versions have no commit.
  readVersion(`${VERSION}/ingress-attributes`, configuration, 404),
  readVersion('/runs/:id/configuration-version', run, 200, 'configuration_version show'),
  readVersion('/runs/:id/configuration-version/download', run, 302, 'configuration_version download'),
  readVersion('/workspaces/:id/configuration-versions', workspace),
  {
    route: 'POST /workspaces/:id/configuration-versions',
    about: workspace,
    demands: ['read-configuration-version', 'create-configuration-version'],
    status: 201,
    trail: ['configuration_version create'],
  },
  {
    route: `POST ${VERSION}/actions/archive`,
    about: configuration,
    demands: ['read-configuration-version', 'create-configuration-version'],
    status: 202,
    trail: ['configuration_version archive'],
    fresh: true,
    // The data of the current configuration version is kept, so another one becomes current.
    before: async ({ world, params }) => {
      await makeConfigurationVersion(world.server, params['workspace'] ?? '');
    },
  },
  ...['soft_delete_backing_data', 'restore_backing_data', 'permanently_delete_backing_data'].map(
    (action): MatrixRow => ({
      route: `POST ${VERSION}/actions/${action}`,
      about: configuration,
      demands: ['read-configuration-version', 'delete-configuration-data'],
      status: 200,
      trail: [`configuration_version ${action}`],
      fresh: true,
      before: async ({ world, params }) => {
        // The data of the current configuration version is kept, so another one becomes current.
        await makeConfigurationVersion(world.server, params['workspace'] ?? '');
        if (action === 'soft_delete_backing_data') return;
        await world.server.post(`/api/v2/configuration-versions/${params['id']}/actions/soft_delete_backing_data`);
      },
    }),
  ),
];

const unsigned: MatrixTarget = { ...site, params: () => ({ token: 'not.signed' }) };

/** Signed links replace the permission. */
const links: readonly MatrixRow[] = [
  {
    route: 'PUT /configuration-versions/upload/:token',
    about: {
      ...unsigned,
      fresh: async (_, { server, one }) => {
        const response = await server.post(
          `/api/v2/workspaces/${one}/configuration-versions`,
          resource('configuration-versions', { 'auto-queue-runs': false }),
        );
        return { params: { token: tokenOf(response.body.data.attributes['upload-url'] as string) } };
      },
    },
    demands: 'anybody',
    status: 200,
    trail: [],
    fresh: true,
    body: gzipSync('main.tf'),
  },
  {
    route: 'PUT /configuration-versions/upload/:token',
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
    trail: [],
    body: 'bytes',
  },
  erroredState,
  { route: 'GET /errored-states/:token', about: unsigned, demands: 'anybody', status: 403 },
  { route: 'GET /plan-files/:token', about: unsigned, demands: 'anybody', status: 403 },
  { route: 'GET /plan-documents/:token', about: unsigned, demands: 'anybody', status: 403 },
  { route: 'GET /configuration-versions/download/:token', about: unsigned, demands: 'anybody', status: 403 },
  {
    route: 'GET /logs/:token',
    about: {
      ...unsigned,
      fresh: async (_, { server, one }) => {
        const { body } = await server.get(`/api/v2/runs/${await makeRun(server, one, { 'plan-only': true })}/plan`);
        return { params: { token: tokenOf(body.data.attributes['log-read-url'] as string) } };
      },
    },
    query: () => 'wait-seconds=0',
    demands: 'anybody',
    status: 200,
    trail: [],
    fresh: true,
  },
  {
    route: 'GET /logs/:token',
    condition: 'with an invalid signature',
    about: unsigned,
    demands: 'anybody',
    status: 403,
  },
];

const administration: readonly MatrixRow[] = [
  { route: 'GET /admin/runs', about: site, demands: ['manage-site'], status: 200 },
  {
    route: 'POST /admin/runs/:id/actions/force-cancel',
    about: run,
    demands: [['manage-site', site]],
    status: 202,
    trail: ['workspace force_unlock', 'run force_cancel'],
    fresh: true,
  },
];

export const runs: readonly MatrixRow[] = [
  ...reads,
  ...administration,
  ...documents,
  ...actions,
  ...configurations,
  ...links,
];
