import { SITE_SCOPE } from '#api/access';
import { resource } from '../../support/seeds.js';
import type { MatrixRow, MatrixTarget } from '../matrix.js';
import {
  agent,
  agentPool,
  createTarget,
  inAcme,
  organization,
  remotePool,
  site,
  sitePool,
  theAgent,
} from '../targets.js';
import { newSshKey } from '../shared-world.js';

const POOLS = '/organizations/:organization/agent-pools';

const reads: readonly MatrixRow[] = [
  {
    route: `GET ${POOLS}`,
    about: organization,
    demands: ['read-agent-pools'],
    status: 200,
    shows: () => ['pool', 'other-pool', 'remote-pool'],
  },
  { route: 'GET /agent-pools/:id', about: agentPool, demands: ['read-agent-pools'], status: 200 },
  { route: 'GET /agent-pools/:pool/agents', about: agentPool, demands: ['read-agent-pools'], status: 200 },
  { route: 'GET /agents/:id', about: agent, demands: ['read-agent-pools'], status: 200 },
];

const changes: readonly MatrixRow[] = [
  {
    route: `POST ${POOLS}`,
    about: organization,
    demands: ['manage-agent-pools'],
    status: 201,
    trail: ['agent_pool create'],
    bodyFor: ({ world }) => resource('agent-pools', { name: world.unique('made') }),
  },
  {
    route: 'PATCH /agent-pools/:id',
    about: agentPool,
    demands: ['manage-agent-pools'],
    status: 200,
    trail: ['agent_pool update'],
    fresh: true,
    bodyFor: ({ world }) => resource('agent-pools', { name: world.unique('renamed') }),
  },
  {
    route: 'DELETE /agent-pools/:id',
    about: agentPool,
    demands: ['manage-agent-pools'],
    status: 204,
    trail: ['agent_pool destroy'],
    fresh: true,
  },
  {
    route: 'DELETE /agents/:id',
    about: agent,
    demands: ['manage-agent-pools'],
    status: 204,
    trail: ['agent destroy'],
    fresh: true,
    // A working agent cannot be deleted.
    before: ({ world, params }) =>
      theAgent(world).api.post(`/api/v2/agents/${params['id']}/actions/ping`, resource('agents', { status: 'exited' })),
  },
];

const remoteRuns = (enabled: boolean): object => resource('agent-pools', { 'remote-runs-enabled': enabled });

/** Only owners choose pools for runs in `remote` mode, and only owners change such pools. */
const remotePools: readonly MatrixRow[] = [
  {
    route: `POST ${POOLS}`,
    condition: 'for remote runs',
    about: organization,
    demands: ['manage-agent-pools', 'manage-remote-agent-pools'],
    status: 201,
    trail: ['agent_pool create'],
    bodyFor: ({ world }) => resource('agent-pools', { name: world.unique('made'), 'remote-runs-enabled': true }),
  },
  {
    route: 'PATCH /agent-pools/:id',
    condition: 'to execute remote runs',
    about: agentPool,
    demands: ['manage-agent-pools', 'manage-remote-agent-pools'],
    status: 200,
    trail: ['agent_pool update'],
    fresh: true,
    body: remoteRuns(true),
  },
  {
    route: 'PATCH /agent-pools/:id',
    condition: 'to stop executing remote runs',
    about: remotePool,
    demands: ['manage-agent-pools', 'manage-remote-agent-pools'],
    status: 200,
    trail: ['agent_pool update'],
    fresh: true,
    body: remoteRuns(false),
  },
  {
    route: 'PATCH /agent-pools/:id',
    condition: 'the scope of a pool for remote runs',
    about: remotePool,
    demands: ['manage-agent-pools', 'manage-remote-agent-pools'],
    status: 200,
    trail: ['agent_pool update'],
    fresh: true,
    body: resource('agent-pools', { 'organization-scoped': false }),
  },
  {
    route: 'DELETE /agent-pools/:id',
    condition: 'a pool for remote runs',
    about: remotePool,
    demands: ['manage-agent-pools', 'manage-remote-agent-pools'],
    status: 204,
    trail: ['agent_pool destroy'],
    fresh: true,
  },
];

/** Pools of the site, which only its administrators manage. */
const sitePools: readonly MatrixRow[] = [
  {
    route: 'GET /admin/agent-pools',
    about: site,
    demands: ['read-agent-pools'],
    status: 200,
    shows: () => ['site-pool'],
  },
  {
    route: 'POST /admin/agent-pools',
    about: site,
    demands: ['manage-agent-pools'],
    status: 201,
    trail: ['agent_pool create'],
    bodyFor: ({ world }) => resource('agent-pools', { name: world.unique('made') }),
  },
  {
    route: 'GET /agent-pools/:id',
    condition: 'of the site',
    about: sitePool,
    demands: ['read-agent-pools'],
    status: 200,
  },
  {
    route: 'PATCH /agent-pools/:id',
    condition: 'of the site',
    about: sitePool,
    demands: ['manage-agent-pools'],
    status: 200,
    trail: ['agent_pool update'],
    fresh: true,
    bodyFor: ({ world }) => resource('agent-pools', { name: world.unique('renamed') }),
  },
  {
    route: 'DELETE /agent-pools/:id',
    condition: 'of the site',
    about: sitePool,
    demands: ['manage-agent-pools'],
    status: 204,
    trail: ['agent_pool destroy'],
    fresh: true,
  },
  {
    route: 'GET /agent-pools/:pool/agents',
    condition: 'of the site',
    about: sitePool,
    demands: ['read-agent-pools'],
    status: 200,
  },
  {
    route: 'POST /agent-pools/:pool/agents',
    condition: 'of the site',
    about: sitePool,
    demands: ['execute-run'],
    status: 201,
    trail: ['agent create'],
  },
  {
    route: 'GET /agent-pools/:id/runs',
    condition: 'of the site',
    about: sitePool,
    demands: ['execute-run'],
    status: 200,
  },
];

/** A pool of the same organization. No agent token of the matrix belongs to it. */
const otherPool: MatrixTarget = {
  scope: () => SITE_SCOPE,
  params: (_, { otherPool: id }) => ({ id, pool: id }),
};

/** The pool that the token of the caller belongs to. */
const poolOfToken: MatrixTarget = {
  scope: (caller, world) => (caller.siteAgent ? SITE_SCOPE : inAcme(caller, world)),
  ofSite: true,
  params: () => ({}),
};

/** What executors work on. */
const leases: readonly MatrixRow[] = [
  { route: 'GET /agent-pools/:pool/run-leases', about: agentPool, demands: ['read-agent-pools'], status: 200 },
  {
    route: 'GET /agent-pools/:pool/run-leases',
    condition: 'of the site',
    about: sitePool,
    demands: ['read-agent-pools'],
    status: 200,
  },
];

/** Requests of agents with the token of their pool. */
const executing: readonly MatrixRow[] = [
  {
    route: 'POST /agent-pools/:pool/agents',
    about: agentPool,
    demands: ['execute-run'],
    status: 201,
    trail: ['agent create'],
  },
  {
    route: 'POST /agent-pools/:pool/agents',
    condition: 'another pool',
    about: otherPool,
    demands: ['execute-run'],
    status: 201,
    trail: ['agent create'],
  },
  {
    route: 'POST /agents',
    about: poolOfToken,
    demands: ['execute-run'],
    status: 201,
    trail: ['agent create'],
    body: resource('agents', { name: 'executor', 'protocol-version': '1.0' }),
  },
  {
    route: 'POST /agents/:id/actions/ping',
    about: agent,
    demands: ['execute-run'],
    status: 200,
    // The status of agents is stored outside the log (ADR 18).
    trail: [],
    inert: true,
    body: resource('agents', { status: 'idle' }),
  },
  {
    route: 'POST /agents/:id/actions/claim',
    about: agent,
    demands: ['execute-run'],
    status: 200,
    // A claim is an event of the run, and no entry of the trail.
    trail: [],
  },
  { route: 'GET /agent-pools/:id/runs', about: agentPool, demands: ['execute-run'], status: 200 },
  {
    route: 'GET /agent-pools/:id/runs',
    condition: 'another pool',
    about: otherPool,
    demands: ['execute-run'],
    status: 200,
  },
];

const KEYS = '/organizations/:organization/ssh-keys';

const sshKey: MatrixTarget = {
  ...createTarget(inAcme, 'sshKey'),
  fresh: async (_, { server, acme, unique }) => {
    const response = await server.post(`/api/v2/organizations/${acme.name}/ssh-keys`, newSshKey(unique('key')));
    return { params: { id: response.body.data.id as string } };
  },
};

const sshKeys: readonly MatrixRow[] = [
  {
    route: `GET ${KEYS}`,
    about: organization,
    demands: ['read-ssh-keys'],
    status: 200,
    trail: ['ssh_key index'],
    shows: () => ['key'],
  },
  {
    route: `POST ${KEYS}`,
    about: organization,
    demands: ['manage-ssh-keys'],
    status: 201,
    trail: ['ssh_key create'],
    bodyFor: ({ world }) => newSshKey(world.unique('made')),
  },
  { route: 'GET /ssh-keys/:id', about: sshKey, demands: ['read-ssh-keys'], status: 200, trail: ['ssh_key show'] },
  {
    route: 'PATCH /ssh-keys/:id',
    about: sshKey,
    demands: ['read-ssh-keys', 'manage-ssh-keys'],
    status: 200,
    trail: ['ssh_key update'],
    fresh: true,
    bodyFor: ({ world }) => resource('ssh-keys', { name: world.unique('renamed') }),
  },
  {
    route: 'DELETE /ssh-keys/:id',
    about: sshKey,
    demands: ['read-ssh-keys', 'manage-ssh-keys'],
    status: 204,
    trail: ['ssh_key destroy'],
    fresh: true,
  },
];

export const agentsAndKeys: readonly MatrixRow[] = [
  ...reads,
  ...changes,
  ...remotePools,
  ...sitePools,
  ...leases,
  ...executing,
  ...sshKeys,
];
