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

export const onTheWorkspace = ({ given, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [...(given ? [given] : []), ...(run && run !== 'stranger' ? [{ on: 'run', level: run } as const] : [])],
});

/** On other workspaces of the same project. */
export const besideTheWorkspace = ({ given, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [
    ...(given?.on === 'project' ? [given] : []),
    ...(run === 'consumer' ? [{ on: 'run', level: 'own' } as const] : []),
  ],
});

/** Who sees a workspace in it sees the project as well. */
const passage = ({ given }: MatrixCallerInWorld): readonly Grant[] =>
  given?.on === 'project' ? [given] : given ? [{ on: 'project', level: 'passage' }] : [];

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
  if (caller.given?.on === 'workspace') await grantAccess(world.server, caller.team, caller.given, id);
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

export const site: MatrixTarget = { place: () => SITE_SCOPE, standing: () => ({}) };

export const organization: MatrixTarget = {
  place: inAcme,
  standing: (_, { acme }) => ({ organization: acme.name }),
  // Only owners use one up: it is founded by the caller, or the caller comes with a token of its owners.
  fresh: async ({ api, comes }, { unique, server }) => {
    const founded = await makeOrganization(comes === 'user' ? api : server, unique('organization'));
    const params = { organization: founded.name };
    if (comes === 'user') return { params };
    return {
      params,
      api: server.as(await makeToken(server, `/api/v2/teams/${founded.ownersTeam}/authentication-token`)),
    };
  },
};

export const project: MatrixTarget = {
  place: onTheProject,
  standing: (_, { acme, land }) => ({ organization: acme.name, id: land }),
  fresh: async (caller, { acme, server, unique }) => {
    const id = await makeProject(server, acme.name, unique('project'));
    if (caller.given?.on === 'project') await grantAccess(server, caller.team, caller.given, id);
    return { params: { id } };
  },
};

/** Where nobody has been given anything. */
export const otherProject: MatrixTarget = {
  place: inAcme,
  standing: (_, { elsewhere }) => ({ id: elsewhere }),
};

export const workspace: MatrixTarget = {
  place: onTheWorkspace,
  standing: (_, { acme, one }) => ({ organization: acme.name, id: one, name: 'one' }),
  fresh: async (caller, world) => {
    const made = await freshWorkspace(caller, world);
    return { params: { organization: world.acme.name, ...made }, ...(await speakingIn(made.id, caller, world)) };
  },
};

/** Of a signed link. */
export const tokenOf = (link: string): string => new URL(link).pathname.replace(/^.*\//, '');

export const stateVersion: MatrixTarget = {
  place: onTheWorkspace,
  standing: (_, { stateVersion: id }) => ({ id }),
};

export const stateOutput: MatrixTarget = { place: onTheWorkspace, standing: (_, { output: id }) => ({ id }) };

export const agentPool: MatrixTarget = {
  place: inAcme,
  standing: (_, { acme, pool }) => ({ organization: acme.name, id: pool, pool }),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeAgentPool(server, acme.name, unique('pool')) },
  }),
};

export const remotePool: MatrixTarget = {
  place: inAcme,
  standing: (_, { remotePool: id }) => ({ id, pool: id }),
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
  place: inAcme,
  standing: (_, { agent: id }) => ({ id }),
  fresh: async (_, world) => ({ params: { id: await registerAgent(world) } }),
};

/** One of what hangs on the workspace `one`, or on what it stands in. */
export const createTarget = (place: MatrixTarget['place'], key: keyof SharedResources): MatrixTarget => ({
  place,
  standing: (_, { things }) => ({ id: things[key] }),
});

export const getTarget = (callers: MatrixWorld['callers'], name: string): MatrixCallerInWorld => {
  const found = callers.find((caller) => caller.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};

const teamOf = (standing: (world: MatrixWorld) => string): MatrixTarget => ({
  place: inAcme,
  standing: (_, world) => ({ id: standing(world) }),
});

export const openTeam: MatrixTarget = {
  ...teamOf((world) => world.openTeam),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeTeam(server, acme.name, unique('team'), { visibility: 'organization' }) },
  }),
};
export const secretTeam = teamOf((world) => world.secretTeam);
export const ownersTeam = teamOf((world) => world.acme.ownersTeam);

export const isInTeam = ({ team, standing, invited }: MatrixCallerInWorld): boolean =>
  team !== '' && !standing.includes('owner') && !invited && standing.length > 0;

/** The caller's own team, which is secret; another secret one for who has none, or not yet. */
export const ownTeam: MatrixTarget = {
  place: (caller, { acme }) => ({
    organization: acme.id,
    grants: isInTeam(caller) ? [{ on: 'team', level: 'member' }] : [],
  }),
  standing: (caller, world) => ({ id: isInTeam(caller) ? caller.team : world.secretTeam }),
};

/** Only people may make tokens for the team that they are in: a token could outlive itself. */
export const tokensOfOwnTeam: MatrixTarget = {
  ...ownTeam,
  place: (caller, world) => (caller.comes === 'user' ? ownTeam.place(caller, world) : inAcme(caller, world)),
};

export const plainMember = ({ callers }: MatrixWorld): MatrixCallerInWorld =>
  getTarget(callers, 'member of a team without access');
export const anOwner = ({ callers }: MatrixWorld): MatrixCallerInWorld => getTarget(callers, 'owner');

export const currentUser: MatrixTarget = {
  place: ({ id }) => ({ organization: null, user: id }),
  standing: (caller, world) => ({ id: caller.comes === 'user' ? caller.id : plainMember(world).id }),
};
/** Somebody who belongs to acme, and may be the caller. */
export const member: MatrixTarget = {
  place: (_, world) => ({ organization: world.acme.id, user: plainMember(world).id }),
  standing: (_, world) => ({ id: plainMember(world).id }),
};
/** The same person, at the site. */
export const person: MatrixTarget = {
  ...member,
  place: (_, world) => ({ organization: null, user: plainMember(world).id }),
};
