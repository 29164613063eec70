import { SITE_SCOPE, type Grant, type PermissionScope } from '#access';
import {
  expectStatus,
  makeAgentPool,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeTeam,
  makeToken,
  makeWorkspace,
} from '../support/seeds.js';
import type { FreshResource, MatrixTarget } from './matrix.js';
import {
  grantAccess,
  addStateConsumer,
  makeSpeculativeRun,
  createCallerFor,
  type MatrixCallerInWorld,
  type SharedResources,
  type MatrixWorld,
} from './shared-world.js';

// Where a caller's grants lie: on the workspace `one`, or on the project `land` that it stands in.

export const inAcme = (_caller: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
});

export const onTheWorkspace = ({ setup, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [...(setup ? [setup] : []), ...(run && run !== 'stranger' ? [{ on: 'run', level: run } as const] : [])],
});

/** On other workspaces of the same project. */
export const besideTheWorkspace = ({ setup, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [
    ...(setup?.on === 'project' ? [setup] : []),
    ...(run === 'consumer' ? [{ on: 'run', level: 'own' } as const] : []),
  ],
});

/** Who sees a workspace in it sees the project as well. */
const passage = ({ setup }: MatrixCallerInWorld): readonly Grant[] =>
  setup?.on === 'project' ? [setup] : setup ? [{ on: 'project', level: 'passage' }] : [];

export const onTheProject = (caller: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: passage(caller),
});

const toOne = (type: string, id: string): object => ({ data: { type, id } });

/** A workspace beside `one`, on which the caller has what they have on `one`. */
export const freshWorkspace = async (
  caller: MatrixCallerInWorld,
  world: MatrixWorld,
): Promise<{ id: string; name: string }> => {
  const name = world.unique('workspace');
  const project = toOne('projects', world.land);
  const id = await makeWorkspace(world.server, world.acme.name, name, {}, { project });
  if (caller.setup?.on === 'workspace') await grantAccess(world.server, caller.team, caller.setup, id);
  if (caller.run === 'consumer') await addStateConsumer(world.server, id, world.beside);
  return { id, name };
};

/** Who comes with the token of a run in `one` comes with that of a run there instead. */
export const speakingIn = async (
  workspace: string,
  { run }: MatrixCallerInWorld,
  world: MatrixWorld,
): Promise<Pick<FreshResource, 'api'>> =>
  run === 'own' ? { api: await createCallerFor(await makeSpeculativeRun(world.server, workspace), world) } : {};

export const site: MatrixTarget = { scope: () => SITE_SCOPE, params: () => ({}) };

export const organization: MatrixTarget = {
  scope: inAcme,
  params: (_, { acme }) => ({ organization: acme.name }),
  // Only owners use one up: it is founded by the caller, or the caller comes with a token of its owners.
  fresh: async ({ api, authentication }, { unique, server }) => {
    const founded = await makeOrganization(authentication === 'user' ? api : server, unique('organization'));
    const params = { organization: founded.name };
    if (authentication === 'user') return { params };
    return {
      params,
      api: server.as(await makeToken(server, `/api/v2/teams/${founded.ownersTeam}/authentication-token`)),
    };
  },
};

export const project: MatrixTarget = {
  scope: onTheProject,
  params: (_, { acme, land }) => ({ organization: acme.name, id: land }),
  fresh: async (caller, { acme, server, unique }) => {
    const id = await makeProject(server, acme.name, unique('project'));
    if (caller.setup?.on === 'project') await grantAccess(server, caller.team, caller.setup, id);
    return { params: { id } };
  },
};

/** Where nobody has been given anything. */
export const otherProject: MatrixTarget = {
  scope: inAcme,
  params: (_, { elsewhere }) => ({ id: elsewhere }),
};

export const workspace: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { acme, one }) => ({ organization: acme.name, id: one, name: 'one' }),
  fresh: async (caller, world) => {
    const made = await freshWorkspace(caller, world);
    return { params: { organization: world.acme.name, ...made }, ...(await speakingIn(made.id, caller, world)) };
  },
};

/** Of a signed link. */
export const tokenOf = (link: string): string => new URL(link).pathname.replace(/^.*\//, '');

export const stateVersion: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { stateVersion: id }) => ({ id }),
};

export const stateOutput: MatrixTarget = { scope: onTheWorkspace, params: (_, { output: id }) => ({ id }) };

export const agentPool: MatrixTarget = {
  scope: inAcme,
  params: (_, { acme, pool }) => ({ organization: acme.name, id: pool, pool }),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeAgentPool(server, acme.name, unique('pool')) },
  }),
};

export const remotePool: MatrixTarget = {
  scope: inAcme,
  params: (_, { remotePool: id }) => ({ id, pool: id }),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeRemotePool(server, acme.name, unique('pool')) },
  }),
};

/** Whom the agents are that executors speak as. */
export const theAgent = ({ callers }: MatrixWorld): MatrixCallerInWorld => getTarget(callers, 'token of an agent');

export const registerAgent = async (world: MatrixWorld): Promise<string> => {
  const made = await theAgent(world).api.post(`/api/v2/agent-pools/${world.pool}/agents`);
  return expectStatus(made, 201).body.data.id as string;
};

export const agent: MatrixTarget = {
  scope: inAcme,
  params: (_, { agent: id }) => ({ id }),
  fresh: async (_, world) => ({ params: { id: await registerAgent(world) } }),
};

/** One of what hangs on the workspace `one`, or on what it stands in. */
export const createTarget = (scope: MatrixTarget['scope'], key: keyof SharedResources): MatrixTarget => ({
  scope,
  params: (_, { resources }) => ({ id: resources[key] }),
});

export const getTarget = (callers: MatrixWorld['callers'], name: string): MatrixCallerInWorld => {
  const found = callers.find((caller) => caller.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};

const teamOf = (standing: (world: MatrixWorld) => string): MatrixTarget => ({
  scope: inAcme,
  params: (_, world) => ({ id: standing(world) }),
});

export const openTeam: MatrixTarget = {
  ...teamOf((world) => world.openTeam),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeTeam(server, acme.name, unique('team'), { visibility: 'organization' }) },
  }),
};
export const secretTeam = teamOf((world) => world.secretTeam);
export const ownersTeam = teamOf((world) => world.acme.ownersTeam);

export const isInTeam = ({ team, roles, invited }: MatrixCallerInWorld): boolean =>
  team !== '' && !roles.includes('owner') && !invited && roles.length > 0;

/** The caller's own team, which is secret; another secret one for who has none, or not yet. */
export const ownTeam: MatrixTarget = {
  scope: (caller, { acme }) => ({
    organization: acme.id,
    grants: isInTeam(caller) ? [{ on: 'team', level: 'member' }] : [],
  }),
  params: (caller, world) => ({ id: isInTeam(caller) ? caller.team : world.secretTeam }),
};

/** Only people may make tokens for the team that they are in: a token could outlive itself. */
export const tokensOfOwnTeam: MatrixTarget = {
  ...ownTeam,
  scope: (caller, world) => (caller.authentication === 'user' ? ownTeam.scope(caller, world) : inAcme(caller, world)),
};

export const plainMember = ({ callers }: MatrixWorld): MatrixCallerInWorld =>
  getTarget(callers, 'member of a team without access');
export const anOwner = ({ callers }: MatrixWorld): MatrixCallerInWorld => getTarget(callers, 'owner');

export const currentUser: MatrixTarget = {
  scope: ({ id }) => ({ organization: null, user: id }),
  params: (caller, world) => ({ id: caller.authentication === 'user' ? caller.id : plainMember(world).id }),
};
/** Somebody who belongs to acme, and may be the caller. */
export const member: MatrixTarget = {
  scope: (_, world) => ({ organization: world.acme.id, user: plainMember(world).id }),
  params: (_, world) => ({ id: plainMember(world).id }),
};
/** The same person, at the site. */
export const person: MatrixTarget = {
  ...member,
  scope: (_, world) => ({ organization: null, user: plainMember(world).id }),
};
