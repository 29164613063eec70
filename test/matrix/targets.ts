import { SITE_SCOPE, type Grant, type PermissionScope } from '#api/access';
import {
  expectStatus,
  makeAgentPool,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeSitePool,
  makeTeam,
  makeToken,
  makeOpaVersion,
  makeToolVersion,
  makeWorkspace,
} from '../support/seeds.js';
import type { FreshResource, MatrixTarget } from './matrix.js';
import {
  grantAccess,
  addStateConsumer,
  makeSpeculativeRun,
  makeRunToken,
  type MatrixCallerInWorld,
  type SharedResources,
  type MatrixWorld,
} from './shared-world.js';

// Scopes of a caller's grants: the workspace `one`, or its project `land`.

export const inAcme = (_caller: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
});

export const onTheWorkspace = ({ setup, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [...(setup ? [setup] : []), ...(run && run !== 'stranger' ? [{ on: 'run', level: run } as const] : [])],
});

/** Returns the scope of other workspaces in the same project. */
export const besideTheWorkspace = ({ setup, run }: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: [
    ...(setup?.on === 'project' ? [setup] : []),
    ...(run === 'consumer' ? [{ on: 'run', level: 'own' } as const] : []),
  ],
});

/** Returns the access to the project. Access to a workspace implies read access to its project. */
const accessToProject = ({ setup }: MatrixCallerInWorld): readonly Grant[] =>
  setup?.on === 'project' ? [setup] : setup ? [{ on: 'project', level: 'passage' }] : [];

export const onTheProject = (caller: MatrixCallerInWorld, { acme }: MatrixWorld): PermissionScope => ({
  organization: acme.id,
  grants: accessToProject(caller),
});

const toOne = (type: string, id: string): object => ({ data: { type, id } });

/** Creates a workspace beside `one`, on which the caller has the same access. */
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

/** Returns a client with the token of a run in this workspace, if the caller uses the token of a run in `one`. */
export const speakingIn = async (
  workspace: string,
  { run }: MatrixCallerInWorld,
  world: MatrixWorld,
): Promise<Pick<FreshResource, 'api'>> =>
  run === 'own'
    ? { api: world.server.as(await makeRunToken(await makeSpeculativeRun(world.server, workspace), world)) }
    : {};

export const site: MatrixTarget = { scope: () => SITE_SCOPE, params: () => ({}) };

export const organization: MatrixTarget = {
  scope: inAcme,
  params: (_, { acme }) => ({ organization: acme.name }),
  // Only owners can delete an organization. The caller creates it, or gets a token of its owners.
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

/** A project on which no team has access. */
export const otherProject: MatrixTarget = {
  scope: inAcme,
  params: (_, { elsewhere }) => ({ id: elsewhere }),
};

export const workspace: MatrixTarget = {
  scope: onTheWorkspace,
  params: (_, { acme, one }) => ({ organization: acme.name, id: one, name: 'one' }),
  fresh: async (caller, world) => {
    const created = await freshWorkspace(caller, world);
    return { params: { organization: world.acme.name, ...created }, ...(await speakingIn(created.id, caller, world)) };
  },
};

/** Returns the token in a signed link. */
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

export const sitePool: MatrixTarget = {
  scope: () => SITE_SCOPE,
  ofSite: true,
  params: (_, { sitePool: id }) => ({ id, pool: id }),
  fresh: async (_, { server, unique }) => ({ params: { id: await makeSitePool(server, unique('pool')) } }),
};

/** A release of terraform: one that the server lists, or a new one that an administrator of the site has added. */
export const siteToolVersion: MatrixTarget = {
  scope: () => SITE_SCOPE,
  // Ids of releases that the server lists derive from their versions: this is 1.5.7.
  params: () => ({ id: 'tool-53ae027a22b07078' }),
  fresh: async (_, { server, unique }) => ({
    params: { id: await makeToolVersion(server, `9.0.0-${unique('fresh')}`) },
  }),
};

/** A release of OPA: one that the server lists, or a new one that an administrator of the site has added. */
export const siteOpaVersion: MatrixTarget = {
  scope: () => SITE_SCOPE,
  // This is 1.19.1.
  params: () => ({ id: 'tool-12abdd0a799a6648' }),
  fresh: async (_, { server, unique }) => ({
    params: { id: await makeOpaVersion(server, `9.0.0-${unique('fresh')}`) },
  }),
};

/** The caller that uses the token of an agent pool. */
export const theAgent = ({ callers }: MatrixWorld): MatrixCallerInWorld => getTarget(callers, 'token of an agent');

export const registerAgent = async (world: MatrixWorld): Promise<string> => {
  const response = await theAgent(world).api.post(`/api/v2/agent-pools/${world.pool}/agents`);
  return expectStatus(response, 201).body.data.id as string;
};

export const agent: MatrixTarget = {
  scope: inAcme,
  params: (_, { agent: id }) => ({ id }),
  fresh: async (_, world) => ({ params: { id: await registerAgent(world) } }),
};

/** Makes a target from a shared resource. */
export const createTarget = (scope: MatrixTarget['scope'], key: keyof SharedResources): MatrixTarget => ({
  scope,
  params: (_, { resources }) => ({ id: resources[key] }),
});

export const getTarget = (callers: MatrixWorld['callers'], name: string): MatrixCallerInWorld => {
  const caller = callers.find((each) => each.name === name);
  if (!caller) throw new Error(`there is no ${name}`);
  return caller;
};

const teamTarget = (getId: (world: MatrixWorld) => string): MatrixTarget => ({
  scope: inAcme,
  params: (_, world) => ({ id: getId(world) }),
});

export const openTeam: MatrixTarget = {
  ...teamTarget((world) => world.openTeam),
  fresh: async (_, { server, acme, unique }) => ({
    params: { id: await makeTeam(server, acme.name, unique('team'), { visibility: 'organization' }) },
  }),
};
export const secretTeam = teamTarget((world) => world.secretTeam);
export const ownersTeam = teamTarget((world) => world.acme.ownersTeam);

export const isInTeam = ({ team, roles, invited }: MatrixCallerInWorld): boolean =>
  team !== '' && !roles.includes('owner') && !invited && roles.length > 0;

/** The caller's own team, which is secret, or another secret team if the caller has none. */
export const ownTeam: MatrixTarget = {
  scope: (caller, { acme }) => ({
    organization: acme.id,
    grants: isInTeam(caller) ? [{ on: 'team', level: 'member' }] : [],
  }),
  params: (caller, world) => ({ id: isInTeam(caller) ? caller.team : world.secretTeam }),
};

/** The target of tokens of the own team. Only users may create them: a token could otherwise renew itself. */
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
/** A plain member of acme. One of the callers is the member. */
export const member: MatrixTarget = {
  scope: (_, world) => ({ organization: world.acme.id, user: plainMember(world).id }),
  params: (_, world) => ({ id: plainMember(world).id }),
};
/** The same member, in the scope of the site. */
export const person: MatrixTarget = {
  ...member,
  scope: (_, world) => ({ organization: null, user: plainMember(world).id }),
};
