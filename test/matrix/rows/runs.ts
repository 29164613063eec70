import { makeConfigurationVersion, makeRun, reportBody, resource, runBody } from '../../support/seeds.js';
import type { Arrived, World } from '../land.js';
import type { Row, Target } from '../matrix.js';
import { freshWorkspace, inAcme, onTheWorkspace, organization, site, theAgent, thing, workspace } from '../targets.js';

const freshConfiguration = async (caller: Arrived, world: World): Promise<{ id: string; workspace: string }> => {
  const { id } = await freshWorkspace(caller, world);
  return { id: await makeConfigurationVersion(world.server, id), workspace: id };
};

const configuration: Target = {
  ...thing(onTheWorkspace, 'configuration'),
  fresh: async (caller, world) => ({ params: await freshConfiguration(caller, world) }),
};

/** A run in a workspace of the caller's own, which waits to be planned. */
const run: Target = {
  ...thing(onTheWorkspace, 'run'),
  fresh: async (caller, world) => {
    const { workspace: id } = await freshConfiguration(caller, world);
    return { params: { id: await makeRun(world.server, id) } };
  },
};

const read = (path: string, about: Target, status = 200): Row => ({
  route: `GET ${path}`,
  about,
  demands: ['read-runs'],
  status,
});

const reads: readonly Row[] = [
  read('/runs/:id', run),
  read('/runs/:id/plan', run),
  read('/runs/:id/apply', run),
  read('/runs/:id/comments', run),
  read('/runs/:id/run-events', run),
  read('/workspaces/:id/runs', workspace),
  read('/plans/:id', thing(onTheWorkspace, 'plan')),
  // Nobody has it: executors keep it to themselves.
  read('/plans/:id/json-output', thing(onTheWorkspace, 'plan'), 404),
  read('/applies/:id', thing(onTheWorkspace, 'apply')),
  read('/comments/:id', thing(onTheWorkspace, 'comment')),
  read('/run-events/:id', thing(onTheWorkspace, 'runEvent')),
  {
    route: 'GET /organizations/:organization/runs',
    about: organization,
    demands: ['read-organization'],
    status: 200,
    nameOf: () => 'the run',
    shows: ({ caller, world, may }) => (may('read-runs', onTheWorkspace(caller, world)) ? ['the run'] : []),
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
];

const NO_RUN = { about: { ...site, place: onTheWorkspace } } as const;

const planned = async (world: World, id: string): Promise<void> => {
  for (const report of [reportBody('planning'), reportBody('planned', { 'resource-additions': 1 })])
    await theAgent(world).api.post(`/api/v2/runs/${id}/progress`, report);
};

const actions: readonly Row[] = [
  {
    route: 'POST /runs',
    ...NO_RUN,
    demands: ['read-runs', 'queue-run'],
    status: 201,
    bodyFor: ({ world }) => runBody(world.one, { 'plan-only': true }),
  },
  ...['apply', 'discard'].map((action): Row => ({
    route: `POST /runs/:id/actions/${action}`,
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    fresh: true,
    before: ({ world, params }) => planned(world, params['id'] ?? ''),
  })),
  {
    route: 'POST /runs/:id/actions/cancel',
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 202,
    fresh: true,
  },
  // The run that they ask for is neither canceled nor waiting: who may is told so.
  {
    route: 'POST /runs/:id/actions/force-cancel',
    about: run,
    demands: ['read-runs', 'force-cancel-run'],
    status: 409,
  },
  {
    route: 'POST /runs/:id/actions/force-execute',
    about: run,
    demands: ['read-runs', 'apply-run'],
    status: 409,
  },
  {
    route: 'POST /runs/:id/comments',
    about: run,
    demands: ['read-runs', 'comment-run'],
    status: 201,
    body: resource('comments', { body: 'Hm.' }),
  },
  {
    route: 'POST /runs/:id/progress',
    about: { ...run, place: inAcme },
    demands: ['execute-run'],
    status: 200,
    fresh: true,
    body: reportBody('planning'),
  },
];

const VERSION = '/configuration-versions/:id';
const readVersion = (path: string, about: Target, status = 200): Row => ({
  route: `GET ${path}`,
  about,
  demands: ['read-configuration-version'],
  status,
});

const configurations: readonly Row[] = [
  readVersion(VERSION, configuration),
  readVersion(`${VERSION}/download`, configuration, 302),
  // Uploaded ones were made of no commit.
  readVersion(`${VERSION}/ingress-attributes`, configuration, 404),
  readVersion('/runs/:id/configuration-version', run),
  readVersion('/runs/:id/configuration-version/download', run, 302),
  readVersion('/workspaces/:id/configuration-versions', workspace),
  {
    route: 'POST /workspaces/:id/configuration-versions',
    about: workspace,
    demands: ['read-configuration-version', 'create-configuration-version'],
    status: 201,
  },
  {
    route: `POST ${VERSION}/actions/archive`,
    about: configuration,
    demands: ['read-configuration-version', 'create-configuration-version'],
    status: 202,
    fresh: true,
  },
  ...['soft_delete_backing_data', 'restore_backing_data', 'permanently_delete_backing_data'].map((action): Row => ({
    route: `POST ${VERSION}/actions/${action}`,
    about: configuration,
    demands: ['read-configuration-version', 'delete-configuration-data'],
    status: 200,
    fresh: true,
    before: async ({ world, params }) => {
      // The current one is kept: another takes its place.
      await makeConfigurationVersion(world.server, params['workspace'] ?? '');
      if (action === 'soft_delete_backing_data') return;
      await world.server.post(`/api/v2/configuration-versions/${params['id']}/actions/soft_delete_backing_data`);
    },
  })),
];

/** Signed links stand for the permission. */
const links: readonly Row[] = [
  'PUT /configuration-versions/upload/:token',
  'GET /configuration-versions/download/:token',
].map((route) => ({
  route,
  about: { ...site, standing: () => ({ token: 'not.signed' }) },
  demands: 'anybody',
  status: 403,
  ...(route.startsWith('PUT') ? { body: 'bytes' } : {}),
}));

export const runs: readonly Row[] = [...reads, ...actions, ...configurations, ...links];
