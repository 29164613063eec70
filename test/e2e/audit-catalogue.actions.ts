import { waitForFollowers } from '../support/event-log.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeReservedTagKey,
  makeRun,
  makeRunTrigger,
  makeTeam,
  makeWorkspace,
  reportBody,
  resource,
  runBody,
  runTriggerBody,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import { HOST_TOKEN, newOauthClient, openTestGitHost } from '../support/git-host.js';
import { newRunTask, newWorkspaceTask, openTestTaskService } from '../support/task-service.js';
import type { ApiResponse, ApiTestClient, TestServer } from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';

/** An organization with its owner, and the resources that the actions need. */
export type CatalogueWorld = SeededOrganization & {
  /** Client of the administrator of the site. */
  readonly server: TestServer;
  readonly owner: SeededMember;
  /** Client that reads the audit trail. */
  readonly auditor: ApiTestClient;
  readonly pool: string;
  readonly agents: ApiTestClient;
  readonly team: string;
  readonly workspace: string;
  readonly unique: (of: string) => string;
  /** Advances the clock of the server. */
  readonly pass: (ms: number) => void;
};

/** The response to a request, and what the trail must record about it. */
export type ActionResult = {
  readonly answer: ApiResponse;
  readonly id: string;
  readonly meta: object | null;
  /** Id of the caller if it is not the owner. */
  readonly accessor?: string;
  /** Client of the trail if the entry is in the trail of another organization. */
  readonly auditor?: ApiTestClient;
};

const P = '/api/v2';

export const setUpCatalogue = async (
  server: TestServer,
  name: string,
  pass: CatalogueWorld['pass'],
): Promise<CatalogueWorld> => {
  const organization = await makeOrganization(server, name);
  const pool = await makeRemotePool(server, name, 'edge');
  let counter = 0;
  return {
    ...organization,
    server,
    owner: await makeMember(server, name, `owner-of-${name}`, [organization.ownersTeam]),
    auditor: server.as(await makeOrganizationToken(server, name)),
    pool,
    agents: server.as(await makeAgentToken(server, pool)),
    team: await makeTeam(server, name, 'core'),
    workspace: await makeWorkspace(server, name, 'standing'),
    unique: (of) => `${of}-of-${name}-${(counter += 1)}`,
    pass,
  };
};

export type AuditedAction = (world: CatalogueWorld) => Promise<ActionResult>;

const dataOf = (answer: ApiResponse): any => expectStatus(answer, answer.status < 300 ? answer.status : 201).body.data;

const of = ({ name }: CatalogueWorld, path: string): string => `${P}/organizations/${name}/${path}`;

/** Returns the actions that create a resource with a POST, then change and delete it at its own path. */
const createActions = (
  type: string,
  collection: (world: CatalogueWorld) => string,
  { first, change, meta }: { readonly first: object; readonly change: object; readonly meta: (name: string) => object },
): { readonly create: AuditedAction; readonly update: AuditedAction; readonly destroy: AuditedAction } => {
  const make = async (world: CatalogueWorld): Promise<{ answer: ApiResponse; id: string; name: string }> => {
    const name = world.unique(type);
    const answer = expectStatus(await world.owner.post(collection(world), resource(type, { name, ...first })), 201);
    return { answer, id: answer.body.data.id as string, name };
  };
  return {
    create: async (world) => {
      const { answer, id, name } = await make(world);
      return { answer, id, meta: meta(name) };
    },
    update: async (world) => {
      const { id } = await make(world);
      const answer = expectStatus(await world.owner.patch(`${P}/${type}/${id}`, resource(type, change)), 200);
      return { answer, id, meta: { attributes: Object.keys(change) } };
    },
    destroy: async (world) => {
      const { id, name } = await make(world);
      const answer = expectStatus(await world.owner.delete(`${P}/${type}/${id}`), 204);
      return { answer, id, meta: meta(name) };
    },
  };
};

/** The actions that end a resource and bring it back. `make` creates one. */
export const createEndActions = (
  make: (world: CatalogueWorld) => Promise<{ readonly id: string; readonly name: string; readonly path: string }>,
): Readonly<Record<'destroy' | 'recover' | 'purge', AuditedAction>> => {
  const makeDeleted = async (world: CatalogueWorld) => {
    const { id, name, path } = await make(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta: { name } };
  };
  return {
    destroy: async (world) => {
      const { answer, id, meta } = await makeDeleted(world);
      const items = expectStatus(await world.owner.get(of(world, 'recoverable-items')), 200).body.data;
      const { attributes } = items.find((item: { id: string }) => item.id === id);
      return { answer, id, meta: { ...meta, recoverable_until: attributes['recoverable-until'] } };
    },
    recover: async (world) => {
      const { id, meta } = await makeDeleted(world);
      const answer = await world.owner.post(`${P}/recoverable-items/${id}/actions/recover`);
      return { answer: expectStatus(answer, 200), id, meta };
    },
    purge: async (world) => {
      const { id, meta } = await makeDeleted(world);
      const answer = await world.owner.delete(`${P}/recoverable-items/${id}`);
      return { answer: expectStatus(answer, 204), id, meta: { ...meta, expired: false } };
    },
  };
};

const withName = { meta: (name: string) => ({ name }) };

const pools = createActions('agent-pools', (world) => of(world, 'agent-pools'), {
  first: {},
  change: { 'organization-scoped': false },
  ...withName,
});
const projects = createActions('projects', (world) => of(world, 'projects'), {
  first: {},
  change: { description: 'changed' },
  ...withName,
});
const teams = createActions('teams', (world) => of(world, 'teams'), {
  first: {},
  change: { 'sso-team-id': 'sso-1' },
  ...withName,
});
const sets = createActions('varsets', (world) => of(world, 'varsets'), {
  first: {},
  change: { description: 'changed' },
  ...withName,
});

const freshWorkspace = async (world: CatalogueWorld): Promise<string> =>
  makeWorkspace(world.owner, world.name, world.unique('workspace'));

const projectEnds = createEndActions(async (world) => {
  const { answer, id } = await projects.create(world);
  return { id, name: answer.body.data.attributes.name, path: `${P}/projects/${id}` };
});

const setEnds = createEndActions(async (world) => {
  const { answer, id } = await sets.create(world);
  return { id, name: answer.body.data.attributes.name, path: `${P}/varsets/${id}` };
});

/** Creates a workspace and deletes it. */
const deletedWorkspace = async (world: CatalogueWorld): Promise<{ id: string; name: string; project: string }> => {
  const id = await freshWorkspace(world);
  const { data } = expectStatus(await world.owner.get(`${P}/workspaces/${id}`), 200).body;
  expectStatus(await world.owner.delete(`${P}/workspaces/${id}`), 204);
  return { id, name: data.attributes.name, project: data.relationships.project.data.id };
};

const lock = async (api: ApiTestClient, workspace: string): Promise<ApiResponse> =>
  expectStatus(await api.post(`${P}/workspaces/${workspace}/actions/lock`, { reason: 'why' }), 200);

type Stated = { readonly workspace: string; readonly version: string; readonly created: ApiResponse };

/** Creates a workspace with two state versions and unlocks it, so that the newer one becomes the current state. */
const makeStates = async ({ owner, ...world }: CatalogueWorld): Promise<Stated & { readonly older: string }> => {
  const workspace = await freshWorkspace({ owner, ...world });
  const { lineage } = stateFile();
  await lock(owner, workspace);
  const add = async (serial: number): Promise<ApiResponse> => {
    const state = stateFile({ serial, lineage, outputs: { out: { value: 1, type: 'number' } } });
    const body = newStateVersion(state, { inline: true });
    return expectStatus(await owner.post(`${P}/workspaces/${workspace}/state-versions`, body), 201);
  };
  const older = dataOf(await add(1)).id as string;
  const created = await add(2);
  expectStatus(await owner.post(`${P}/workspaces/${workspace}/actions/unlock`), 200);
  return { workspace, older, created, version: dataOf(created).id as string };
};

const onState =
  (action: string): AuditedAction =>
  async (world) => {
    const { workspace, older } = await makeStates(world);
    const path = `${P}/state-versions/${older}/actions`;
    if (!action.startsWith('soft')) expectStatus(await world.owner.post(`${path}/soft_delete_backing_data`), 200);
    const answer = expectStatus(await world.owner.post(`${path}/${action}`), 200);
    return { answer, id: older, meta: { workspace_id: workspace } };
  };

const onConfiguration =
  (action: string, status: number): AuditedAction =>
  async (world) => {
    const workspace = await freshWorkspace(world);
    const id = await makeConfigurationVersion(world.owner, workspace);
    // Cadastre keeps the data of the current configuration version, so a newer one must exist.
    await makeConfigurationVersion(world.owner, workspace);
    const path = `${P}/configuration-versions/${id}/actions`;
    if (/restore|permanently/.test(action))
      expectStatus(await world.owner.post(`${path}/soft_delete_backing_data`), 200);
    return { answer: expectStatus(await world.owner.post(`${path}/${action}`), status), id, meta: null };
  };

const freshRun = async (world: CatalogueWorld): Promise<{ readonly run: string; readonly workspace: string }> => {
  const workspace = await freshWorkspace(world);
  await makeConfigurationVersion(world.owner, workspace);
  return { run: await makeRun(world.owner, workspace), workspace };
};

/** A run that an agent has claimed for its plan. */
const claim = async (world: CatalogueWorld, run: string): Promise<number> => {
  const agent = expectStatus(await world.agents.post(`${P}/agent-pools/${world.pool}/agents`), 201).body.data.id;
  const next = async () => expectStatus(await world.agents.post(`${P}/agents/${agent}/actions/claim`), 200).body.data;
  let lease = await next();
  while (lease.id !== run) lease = await next();
  return lease.attributes.fence as number;
};

const claimedRun = async (world: CatalogueWorld): Promise<{ readonly run: string; readonly fence: number }> => {
  const { run } = await freshRun(world);
  return { run, fence: await claim(world, run) };
};

const report = async ({ agents }: CatalogueWorld, run: string, ...reports: readonly object[]): Promise<void> => {
  for (const body of reports) expectStatus(await agents.post(`${P}/runs/${run}/progress`, body), 200);
};

const planned = (world: CatalogueWorld, run: string): Promise<void> =>
  report(world, run, reportBody('planning'), reportBody('planned', { 'resource-additions': 1 }));

const claimedApply = async (world: CatalogueWorld) => {
  const { run, workspace } = await freshRun(world);
  const fence = await claim(world, run);
  await report(world, run, reportBody('planned', { fence, 'resource-additions': 1 }));
  expectStatus(await world.owner.post(`${P}/runs/${run}/actions/apply`), 202);
  return { run, workspace, fence: await claim(world, run) };
};

const erroredStateOf = (run: string, fence?: number): string =>
  `${P}/applies/${run.replace('run-', 'apply-')}/errored-state${fence === undefined ? '' : `?fence=${fence}`}`;

const onRun =
  (action: string, before: (world: CatalogueWorld, run: string) => Promise<void>): AuditedAction =>
  async (world) => {
    const { run } = await freshRun(world);
    await before(world, run);
    return {
      answer: expectStatus(await world.owner.post(`${P}/runs/${run}/actions/${action}`), 202),
      id: run,
      meta: null,
    };
  };

const cancelWithoutEffect = async (world: CatalogueWorld, run: string): Promise<void> => {
  await report(world, run, reportBody('planning'));
  expectStatus(await world.owner.post(`${P}/runs/${run}/actions/cancel`), 202);
  world.pass(60_000);
};

const inVariables = (workspace: string): string => `${P}/workspaces/${workspace}/vars`;

const makeVariable = async (
  world: CatalogueWorld,
): Promise<{ answer: ApiResponse; id: string; key: string; workspace: string; path: string }> => {
  const workspace = await freshWorkspace(world);
  const key = world.unique('key');
  const body = resource('vars', { key, value: 'v', category: 'env' });
  const answer = expectStatus(await world.owner.post(inVariables(workspace), body), 201);
  const id = answer.body.data.id as string;
  return { answer, id, key, workspace, path: `${inVariables(workspace)}/${id}` };
};

const makeKey = async (
  world: CatalogueWorld,
): Promise<{ answer: ApiResponse; id: string; name: string; path: string }> => {
  const name = world.unique('key');
  const body = resource('ssh-keys', { name, value: 'a private key' });
  const answer = expectStatus(await world.owner.post(of(world, 'ssh-keys'), body), 201);
  const id = answer.body.data.id as string;
  return { answer, id, name, path: `${P}/ssh-keys/${id}` };
};

const makeView = async (
  world: CatalogueWorld,
): Promise<{ answer: ApiResponse; id: string; name: string; path: string }> => {
  const name = world.unique('view');
  const answer = await world.owner.post(of(world, 'saved-views'), resource('saved-views', { name, query: '' }));
  const id = expectStatus(answer, 201).body.data.id as string;
  return { answer, id, name, path: `${P}/saved-views/${id}` };
};

const LIST_RANGE = { range: '203.0.113.0/24', enabled: true };

/** The list is for agents, so it does not restrict the callers of the catalogue. */
const makeIpAllowlist = async (world: CatalogueWorld): Promise<{ answer: ApiResponse; id: string; name: string }> => {
  const name = world.unique('list');
  const body = resource(
    'cidr-range-lists',
    { name, 'enforcement-scope': 'selected_agent_pools' },
    { 'cidr-ranges': { data: [{ type: 'cidr-ranges', attributes: LIST_RANGE }] } },
  );
  const answer = expectStatus(await world.owner.post(of(world, 'cidr-range-lists'), body), 201);
  return { answer, id: answer.body.data.id as string, name };
};

const makeAgent = async (world: CatalogueWorld): Promise<{ answer: ApiResponse; id: string; meta: object }> => {
  const answer = expectStatus(await world.agents.post(`${P}/agent-pools/${world.pool}/agents`), 201);
  const { id, attributes } = answer.body.data;
  return { answer, id, meta: { name: attributes.name, agent_pool_id: world.pool } };
};

type Access = 'project' | 'workspace';
const GIVE = { project: grantProjectAccess, workspace: grantWorkspaceAccess } as const;

const makeTarget = (world: CatalogueWorld, on: Access): Promise<string> =>
  on === 'project' ? makeProject(world.owner, world.name, world.unique('project')) : freshWorkspace(world);

const addTeam =
  (on: Access): AuditedAction =>
  async (world) => {
    const id = await makeTarget(world, on);
    const relationships = { [on]: { data: { type: `${on}s`, id } }, team: { data: { type: 'teams', id: world.team } } };
    const answer = await world.owner.post(
      `${P}/team-${on}s`,
      resource(`team-${on}s`, { access: 'read' }, relationships),
    );
    return { answer: expectStatus(answer, 201), id, meta: { team: 'core', permissions: 'read' } };
  };

const updateTeam =
  (on: Access): AuditedAction =>
  async (world) => {
    const id = await makeTarget(world, on);
    const accessId = await GIVE[on](world.owner, world.team, id, 'read');
    const answer = await world.owner.patch(
      `${P}/team-${on}s/${accessId}`,
      resource(`team-${on}s`, { access: 'write' }),
    );
    return { answer: expectStatus(answer, 200), id, meta: { team: 'core', permissions: 'write' } };
  };

const removeTeam =
  (on: Access): AuditedAction =>
  async (world) => {
    const id = await makeTarget(world, on);
    const accessId = await GIVE[on](world.owner, world.team, id, 'read');
    return {
      answer: expectStatus(await world.owner.delete(`${P}/team-${on}s/${accessId}`), 204),
      id,
      meta: { team: 'core' },
    };
  };

const policy = (world: CatalogueWorld, workspace: string, days: number): Promise<ApiResponse> =>
  world.owner.post(
    `${P}/workspaces/${workspace}/relationships/data-retention-policy`,
    resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': days }),
  );

const policyMeta = (world: CatalogueWorld, days: number): object => ({
  delete_older_than_n_days: days,
  organization: world.name,
  organization_id: world.id,
});

/** Invites a guest. `meta` of the invitation hides the account, and `accepted` of the acceptance names it. */
const invite = async (
  world: CatalogueWorld,
): Promise<{ answer: ApiResponse; id: string; meta: object; accepted: object }> => {
  const email = `${world.unique('guest')}@people.test`;
  const body = resource('organization-memberships', { email });
  const answer = expectStatus(await world.owner.post(of(world, 'organization-memberships'), body), 201);
  const { id } = answer.body.data;
  const user = dataOf(await world.server.get(`${P}/organization-memberships/${id}`)).relationships.user.data
    .id as string;
  const { username } = dataOf(await world.server.get(`${P}/users/${user}`)).attributes;
  const meta = { user: email, user_id: id.replace(/^ou-/, 'user-') };
  return { answer, id, meta, accepted: { user: username, user_id: user } };
};

const moveMember =
  (isIn: boolean): AuditedAction =>
  async (world) => {
    const team = await makeTeam(world.owner, world.name, world.unique('team'));
    const { username } = await makeMember(world.server, world.name, world.unique('guest'), isIn ? [team] : []);
    const path = `${P}/teams/${team}/relationships/users`;
    const body = { data: [{ type: 'users', id: username }] };
    const answer = await (isIn ? world.owner.delete(path, body) : world.owner.post(path, body));
    return { answer: expectStatus(answer, 204), id: team, meta: { user: username } };
  };

const tokenOf = (world: CatalogueWorld): string => of(world, 'authentication-token?token=audit-trails');

/** Suspends a member, and allows them to sign in again for `unsuspend`. */
const suspend =
  (action: 'suspend' | 'unsuspend'): AuditedAction =>
  async (world) => {
    const { id } = await makeMember(world.server, world.name, world.unique('suspended'), []);
    const path = `${P}/admin/users/${id}/actions`;
    const suspended = expectStatus(await world.server.post(`${path}/suspend`), 200);
    const answer = action === 'suspend' ? suspended : expectStatus(await world.server.post(`${path}/unsuspend`), 200);
    // Reads of a trail do not wait for events of the site.
    await waitForFollowers(world.server.store, 'audit_trail');
    return { answer, id, meta: null, accessor: dataOf(await world.server.get(`${P}/account/details`)).id };
  };

const makeTask = async (world: CatalogueWorld) => {
  const service = await openTestTaskService();
  const name = world.unique('task');
  const answer = expectStatus(await world.owner.post(of(world, 'tasks'), newRunTask(name, service)), 201);
  const meta = {
    task_name: name,
    task_category: 'task',
    task_url: service.url,
    task_enabled: true,
    task_hmac_key_present: false,
  };
  return { answer, id: answer.body.data.id as string, name, meta };
};

const attachTask = async (world: CatalogueWorld) => {
  const { id: task, name } = await makeTask(world);
  const workspaceName = world.unique('workspace');
  const workspace = await makeWorkspace(world.owner, world.name, workspaceName);
  const path = `${P}/workspaces/${workspace}/tasks`;
  const answer = expectStatus(await world.owner.post(path, newWorkspaceTask(task)), 201);
  const meta = {
    task_enforcement_level: 'mandatory',
    task_stage: 'post_plan',
    workspace: workspaceName,
    workspace_id: workspace,
    organization_task: name,
    organization_task_id: task,
  };
  const id = answer.body.data.id as string;
  return { answer, id, path: `${path}/${id}`, meta };
};

const connect = async (world: CatalogueWorld) => {
  const host = await openTestGitHost();
  const body = newOauthClient(host, { name: world.unique('git') });
  const answer = expectStatus(await world.owner.post(of(world, 'oauth-clients'), body), 201);
  const { id, attributes, relationships } = answer.body.data;
  const [{ id: token }] = relationships['oauth-tokens'].data;
  return { answer, id: id as string, name: attributes.name as string, url: host.url, token: token as string };
};

/**
 * An action for each row of the catalogue that Cadastre records itself (and rows that Cadastre
 * adds).
 */
export const AUDITED_ACTIONS: Readonly<Record<string, AuditedAction>> = {
  'agent.create': async (world) => ({ ...(await makeAgent(world)), accessor: world.pool }),
  'agent.destroy': async (world) => {
    const { id, meta } = await makeAgent(world);
    expectStatus(
      await world.agents.post(`${P}/agents/${id}/actions/ping`, resource('agents', { status: 'exited' })),
      200,
    );
    return { answer: expectStatus(await world.owner.delete(`${P}/agents/${id}`), 204), id, meta };
  },
  'agent_pool.create': pools.create,
  'agent_pool.update': pools.update,
  'agent_pool.destroy': pools.destroy,
  'audit_configuration.test': async (world) => {
    const answer = expectStatus(await world.owner.post(of(world, 'audit-configuration/test')), 200);
    return { answer, id: world.id.replace('org-', 'atrail-'), meta: null };
  },
  'authentication_token.create': async (world) => {
    const answer = expectStatus(await world.owner.post(tokenOf(world)), 201);
    return { answer, id: answer.body.data.id, meta: null };
  },
  'authentication_token.show': async (world) => {
    const { id } = dataOf(await world.owner.post(tokenOf(world)));
    return { answer: expectStatus(await world.owner.get(`${P}/authentication-tokens/${id}`), 200), id, meta: null };
  },
  'authentication_token.destroy': async (world) => {
    const { id } = dataOf(await world.owner.post(tokenOf(world)));
    return { answer: expectStatus(await world.owner.delete(tokenOf(world)), 204), id, meta: null };
  },
  'configuration_version.create': async (world) => {
    const answer = expectStatus(
      await world.owner.post(`${P}/workspaces/${world.workspace}/configuration-versions`),
      201,
    );
    const meta = { workspace_id: world.workspace, speculative: false, provisional: false };
    return { answer, id: answer.body.data.id, meta };
  },
  'configuration_version.show': async (world) => {
    const id = await makeConfigurationVersion(world.owner, world.workspace);
    const answer = expectStatus(await world.owner.get(`${P}/configuration-versions/${id}`), 200);
    return { answer, id, meta: { workspace_id: world.workspace } };
  },
  'configuration_version.download': async (world) => {
    const id = await makeConfigurationVersion(world.owner, world.workspace);
    const answer = expectStatus(await world.owner.get(`${P}/configuration-versions/${id}/download`), 302);
    return { answer, id, meta: { workspace_id: world.workspace, shown: 'link', link_of: world.owner.id } };
  },
  'configuration_version.archive': onConfiguration('archive', 202),
  'configuration_version.soft_delete_backing_data': onConfiguration('soft_delete_backing_data', 200),
  'configuration_version.restore_backing_data': onConfiguration('restore_backing_data', 200),
  'configuration_version.permanently_delete_backing_data': onConfiguration('permanently_delete_backing_data', 200),
  'data_retention_policy.create': async (world) => {
    const workspace = await freshWorkspace(world);
    const answer = expectStatus(await policy(world, workspace, 30), 200);
    return { answer, id: answer.body.data.id, meta: { ...policyMeta(world, 30), workspace_id: workspace } };
  },
  'data_retention_policy.update': async (world) => {
    const workspace = await freshWorkspace(world);
    expectStatus(await policy(world, workspace, 30), 200);
    const answer = expectStatus(await policy(world, workspace, 60), 200);
    return { answer, id: answer.body.data.id, meta: policyMeta(world, 60) };
  },
  'data_retention_policy.destroy': async (world) => {
    const workspace = await freshWorkspace(world);
    const { id } = dataOf(await policy(world, workspace, 30));
    const path = `${P}/workspaces/${workspace}/relationships/data-retention-policy`;
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta: policyMeta(world, 30) };
  },
  'organization.create': async (world) => {
    const name = world.unique('founded');
    const attributes = { name, email: 'ops@people.test' };
    const answer = expectStatus(
      await world.owner.post(`${P}/organizations`, resource('organizations', attributes)),
      201,
    );
    const auditor = world.server.as(await makeOrganizationToken(world.server, name));
    return { answer, id: answer.body.data.attributes['external-id'], meta: { name }, auditor };
  },
  'organization.update': async (world) => {
    const body = resource('organizations', { email: `${world.unique('ops')}@people.test` });
    const answer = expectStatus(await world.owner.patch(`${P}/organizations/${world.name}`, body), 200);
    return { answer, id: world.id, meta: { attributes: ['email'] } };
  },
  'organization_user.create': invite,
  'organization_user.update': async (world) => {
    const { id, accepted } = await invite(world);
    const answer = expectStatus(await world.server.post(`${P}/organization-memberships/${id}/actions/accept`), 200);
    return { answer, id, meta: accepted, accessor: dataOf(await world.server.get(`${P}/account/details`)).id };
  },
  'organization_user.destroy': async (world) => {
    const { id, meta } = await invite(world);
    return { answer: expectStatus(await world.owner.delete(`${P}/organization-memberships/${id}`), 204), id, meta };
  },
  'project.create': projects.create,
  'project.update': projects.update,
  'project.destroy': projectEnds.destroy,
  'project.recover': projectEnds.recover,
  'project.purge': projectEnds.purge,
  'project.add_team': addTeam('project'),
  'project.update_team_permissions': updateTeam('project'),
  'project.remove_team': removeTeam('project'),
  'reserved_tag_key.create': async (world) => {
    const key = world.unique('key');
    const answer = expectStatus(
      await world.owner.post(of(world, 'reserved-tag-keys'), resource('reserved-tag-keys', { key })),
      201,
    );
    return { answer, id: answer.body.data.id, meta: { key, disable_overrides: false } };
  },
  'reserved_tag_key.update': async (world) => {
    const key = world.unique('key');
    const id = await makeReservedTagKey(world.owner, world.name, key);
    const body = resource('reserved-tag-keys', { 'disable-overrides': true });
    const answer = expectStatus(await world.owner.patch(`${P}/reserved-tag-keys/${id}`, body), 200);
    return { answer, id, meta: { from: { key, disable_overrides: false }, to: { key, disable_overrides: true } } };
  },
  'reserved_tag_key.destroy': async (world) => {
    const key = world.unique('key');
    const id = await makeReservedTagKey(world.owner, world.name, key);
    const answer = expectStatus(await world.owner.delete(`${P}/reserved-tag-keys/${id}`), 204);
    return { answer, id, meta: { key, disable_overrides: false } };
  },
  'run.create': async (world) => {
    const workspace = await freshWorkspace(world);
    await makeConfigurationVersion(world.owner, workspace);
    const answer = expectStatus(await world.owner.post(`${P}/runs`, runBody(workspace, { message: 'why' })), 201);
    return { answer, id: answer.body.data.id, meta: { workspace_id: workspace, message: 'why' } };
  },
  'run.download_plan_json': async (world) => {
    const { run, workspace } = await freshRun(world);
    await report(world, run, reportBody('planning'));
    const plan = `${P}/plans/${run.replace('run-', 'plan-')}`;
    const schemas = { format_version: '1.0', provider_schemas: {} };
    expectStatus(await world.agents.put(`${plan}/json-schema`, schemas), 204);
    expectStatus(await world.agents.put(`${plan}/json-output`, { format_version: '1.2' }), 204);
    await report(world, run, reportBody('planned'));
    const answer = expectStatus(await world.owner.get(`${plan}/json-output`), 307);
    return { answer, id: run, meta: { workspace_id: workspace, shown: 'link', link_of: world.owner.id } };
  },
  'run.read_job': async (world) => {
    const { run, fence } = await claimedRun(world);
    const body = resource('run-jobs', { fence, nonce: 'nonce-of-the-catalogue' });
    const answer = expectStatus(await world.agents.post(`${P}/runs/${run}/job`, body), 200);
    return { answer, id: run, meta: { phase: 'plan', fence }, accessor: world.pool };
  },
  'run.store_errored_state': async (world) => {
    const { run, fence } = await claimedApply(world);
    const answer = expectStatus(await world.agents.put(erroredStateOf(run, fence), 'state'), 204);
    return { answer, id: run, meta: { fence, size: 5 }, accessor: world.pool };
  },
  'run.download_errored_state': async (world) => {
    const { run, workspace, fence } = await claimedApply(world);
    expectStatus(await world.agents.put(erroredStateOf(run, fence), 'state'), 204);
    const answer = expectStatus(await world.owner.get(erroredStateOf(run)), 307);
    return { answer, id: run, meta: { workspace_id: workspace, shown: 'link', link_of: world.owner.id } };
  },
  'run.issue_identity_token': async (world) => {
    const { run, fence } = await claimedRun(world);
    const body = resource('run-identity-tokens', { fence, audience: 'aws.workload.identity' });
    const answer = expectStatus(await world.agents.post(`${P}/runs/${run}/identity-tokens`, body), 201);
    const meta = { phase: 'plan', audience: 'aws.workload.identity' };
    return { answer, id: run, meta, accessor: world.pool };
  },
  'run.apply': onRun('apply', planned),
  'run.discard': onRun('discard', planned),
  'run.cancel': onRun('cancel', () => Promise.resolve()),
  'run.force_cancel': onRun('force-cancel', cancelWithoutEffect),
  'run.force_execute': async (world) => {
    const { run, workspace } = await freshRun(world);
    await planned(world, run);
    const id = await makeRun(world.owner, workspace);
    return {
      answer: expectStatus(await world.owner.post(`${P}/runs/${id}/actions/force-execute`), 202),
      id,
      meta: null,
    };
  },
  'cidr_range_list.create': async (world) => {
    const { answer, id, name } = await makeIpAllowlist(world);
    return { answer, id, meta: { name, enforcement_scope: 'selected_agent_pools', ranges: [LIST_RANGE] } };
  },
  'cidr_range_list.update': async (world) => {
    const { id, name } = await makeIpAllowlist(world);
    const body = resource('cidr-range-lists', { description: 'offices' });
    const answer = expectStatus(await world.owner.patch(`${P}/cidr-range-lists/${id}`, body), 200);
    return { answer, id, meta: { name, enforcement_scope: 'selected_agent_pools' } };
  },
  'cidr_range_list.destroy': async (world) => {
    const { id, name } = await makeIpAllowlist(world);
    const answer = expectStatus(await world.owner.delete(`${P}/cidr-range-lists/${id}`), 204);
    return { answer, id, meta: { name } };
  },
  'run_trigger.create': async (world) => {
    const [workspace, source] = [await freshWorkspace(world), await freshWorkspace(world)];
    const answer = await world.owner.post(`${P}/workspaces/${workspace}/run-triggers`, runTriggerBody(source));
    const id = expectStatus(answer, 201).body.data.id as string;
    return { answer, id, meta: { workspace_id: workspace, sourceable_id: source } };
  },
  'run_trigger.destroy': async (world) => {
    const [workspace, source] = [await freshWorkspace(world), await freshWorkspace(world)];
    const id = await makeRunTrigger(world.owner, workspace, source);
    const answer = expectStatus(await world.owner.delete(`${P}/run-triggers/${id}`), 204);
    return { answer, id, meta: { workspace_id: workspace, sourceable_id: source } };
  },
  'saved_view.create': async (world) => {
    const { answer, id } = await makeView(world);
    return { answer, id, meta: { shared: false } };
  },
  'saved_view.update': async (world) => {
    const { id, name, path } = await makeView(world);
    const answer = expectStatus(await world.owner.patch(path, resource('saved-views', { shared: true })), 200);
    return { answer, id, meta: { name, shared: true } };
  },
  'saved_view.destroy': async (world) => {
    const { id, path } = await makeView(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta: { shared: false } };
  },
  'task.create': async (world) => {
    const { answer, id, meta } = await makeTask(world);
    return { answer, id, meta };
  },
  'task.update': async (world) => {
    const { id, meta } = await makeTask(world);
    const body = resource('tasks', { enabled: false, 'hmac-key': 'another key' });
    const answer = expectStatus(await world.owner.patch(`${P}/tasks/${id}`, body), 200);
    const after = { ...meta, task_enabled: false, task_hmac_key_present: true, task_hmac_key_changed: true };
    return { answer, id, meta: after };
  },
  'task.destroy': async (world) => {
    const { id, meta } = await makeTask(world);
    return { answer: expectStatus(await world.owner.delete(`${P}/tasks/${id}`), 204), id, meta };
  },
  'workspace_task.create': async (world) => {
    const { answer, id, meta } = await attachTask(world);
    return { answer, id, meta };
  },
  'workspace_task.update': async (world) => {
    const { id, path, meta } = await attachTask(world);
    const body = resource('workspace-tasks', { 'enforcement-level': 'advisory' });
    const answer = expectStatus(await world.owner.patch(path, body), 200);
    return { answer, id, meta: { ...meta, task_enforcement_level: 'advisory' } };
  },
  'workspace_task.destroy': async (world) => {
    const { id, path, meta } = await attachTask(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta };
  },
  'oauth_client.create': async (world) => {
    const { answer, id, name, url } = await connect(world);
    return { answer, id, meta: { name, service_provider: 'gitea', http_url: url } };
  },
  'oauth_client.update': async (world) => {
    const { id } = await connect(world);
    const body = resource('oauth-clients', { name: world.unique('renamed') });
    const answer = expectStatus(await world.owner.patch(`${P}/oauth-clients/${id}`, body), 200);
    return { answer, id, meta: { attributes: ['name'] } };
  },
  'oauth_client.destroy': async (world) => {
    const { id, name, token } = await connect(world);
    // The deletion of a token would be another entry of the same request.
    expectStatus(await world.owner.delete(`${P}/oauth-tokens/${token}`), 204);
    return { answer: expectStatus(await world.owner.delete(`${P}/oauth-clients/${id}`), 204), id, meta: { name } };
  },
  'oauth_token.index': async (world) => {
    await connect(world);
    const answer = expectStatus(await world.owner.get(of(world, 'oauth-tokens')), 200);
    return { answer, id: world.id, meta: { count: answer.body.data.length } };
  },
  'oauth_token.show': async (world) => {
    const { token } = await connect(world);
    return { answer: expectStatus(await world.owner.get(`${P}/oauth-tokens/${token}`), 200), id: token, meta: null };
  },
  'oauth_token.create': async (world) => {
    const { id, token } = await connect(world);
    expectStatus(await world.owner.delete(`${P}/oauth-tokens/${token}`), 204);
    const body = resource('oauth-clients', { 'oauth-token-string': HOST_TOKEN });
    const answer = expectStatus(await world.owner.patch(`${P}/oauth-clients/${id}`, body), 200);
    return { answer, id: answer.body.data.relationships['oauth-tokens'].data[0].id, meta: null };
  },
  'oauth_token.update': async (world) => {
    const { token } = await connect(world);
    const body = resource('oauth-tokens', { 'ssh-key': '-----BEGIN OPENSSH PRIVATE KEY-----' });
    const answer = expectStatus(await world.owner.patch(`${P}/oauth-tokens/${token}`, body), 200);
    return { answer, id: token, meta: { change: 'ssh-key' } };
  },
  'oauth_token.destroy': async (world) => {
    const { token } = await connect(world);
    return { answer: expectStatus(await world.owner.delete(`${P}/oauth-tokens/${token}`), 204), id: token, meta: null };
  },
  'vcs_repo.create': async (world) => {
    const [{ token }, workspace] = [await connect(world), await freshWorkspace(world)];
    const body = resource('workspaces', { 'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': token } });
    const answer = expectStatus(await world.owner.patch(`${P}/workspaces/${workspace}`, body), 200);
    return { answer, id: workspace, meta: { identifier: 'acme/network' } };
  },
  'ssh_key.index': async (world) => {
    await makeKey(world);
    const answer = expectStatus(await world.owner.get(of(world, 'ssh-keys')), 200);
    return { answer, id: world.id, meta: { count: answer.body.data.length } };
  },
  'ssh_key.show': async (world) => {
    const { id, name, path } = await makeKey(world);
    return { answer: expectStatus(await world.owner.get(path), 200), id, meta: { name } };
  },
  'ssh_key.create': async (world) => {
    const { answer, id, name } = await makeKey(world);
    return { answer, id, meta: { name } };
  },
  'ssh_key.update': async (world) => {
    const { id, path } = await makeKey(world);
    const name = world.unique('renamed');
    const answer = expectStatus(await world.owner.patch(path, resource('ssh-keys', { name })), 200);
    return { answer, id, meta: { change: 'name', name } };
  },
  'ssh_key.destroy': async (world) => {
    const { id, name, path } = await makeKey(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta: { name } };
  },
  'state_version.index': async (world) => {
    const { workspace } = await makeStates(world);
    const answer = expectStatus(await world.owner.get(`${P}/workspaces/${workspace}/state-versions`), 200);
    return { answer, id: workspace, meta: { workspace_id: workspace, count: 2 } };
  },
  'state_version.show': async (world) => {
    const { workspace, version } = await makeStates(world);
    const answer = expectStatus(await world.owner.get(`${P}/state-versions/${version}`), 200);
    return { answer, id: version, meta: { workspace_id: workspace, shown: 'document' } };
  },
  'state_version.create': async (world) => {
    const { workspace, version, created } = await makeStates(world);
    return { answer: created, id: version, meta: { workspace_id: workspace, serial: 2 } };
  },
  'state_version.soft_delete_backing_data': onState('soft_delete_backing_data'),
  'state_version.restore_backing_data': onState('restore_backing_data'),
  'state_version.permanently_delete_backing_data': onState('permanently_delete_backing_data'),
  'team.create': teams.create,
  'team.update': teams.update,
  'team.destroy': teams.destroy,
  'team.add_member': moveMember(false),
  'team.remove_member': moveMember(true),
  'user.index': async (world) => {
    const answer = expectStatus(await world.owner.get(of(world, 'organization-memberships')), 200);
    return { answer, id: world.id, meta: { team_id: null, count: answer.body.data.length } };
  },
  'user.suspend': suspend('suspend'),
  'user.unsuspend': suspend('unsuspend'),
  'var.index': async (world) => {
    const { workspace } = await makeVariable(world);
    const answer = expectStatus(await world.owner.get(inVariables(workspace)), 200);
    return { answer, id: workspace, meta: { owner_id: workspace, count: 1 } };
  },
  'var.show': async (world) => {
    const { id, key, workspace, path } = await makeVariable(world);
    return {
      answer: expectStatus(await world.owner.get(path), 200),
      id,
      meta: { key, category: 'env', owner_id: workspace },
    };
  },
  'var.create': async (world) => {
    const { answer, id, key, workspace } = await makeVariable(world);
    return { answer, id, meta: { key, category: 'env', owner_id: workspace } };
  },
  'var.update': async (world) => {
    const { id, path } = await makeVariable(world);
    const answer = expectStatus(await world.owner.patch(path, resource('vars', { value: 'next' })), 200);
    return { answer, id, meta: { attributes: ['value'] } };
  },
  'var.destroy': async (world) => {
    const { id, key, path } = await makeVariable(world);
    return { answer: expectStatus(await world.owner.delete(path), 204), id, meta: { key } };
  },
  'varset.create': sets.create,
  'varset.update': async (world) => {
    const { meta, ...done } = await sets.update(world);
    return { ...done, meta: { change: 'settings', ...meta } };
  },
  'varset.destroy': setEnds.destroy,
  'varset.recover': setEnds.recover,
  'varset.purge': setEnds.purge,
  'workspace.create': async (world) => {
    const name = world.unique('workspace');
    const answer = expectStatus(await world.owner.post(of(world, 'workspaces'), resource('workspaces', { name })), 201);
    return { answer, id: answer.body.data.id, meta: { name, tags: [] } };
  },
  'workspace.update': async (world) => {
    const id = await freshWorkspace(world);
    const body = resource('workspaces', { 'auto-apply': true });
    const answer = expectStatus(await world.owner.patch(`${P}/workspaces/${id}`, body), 200);
    return { answer, id, meta: { change: 'settings', attributes: ['auto-apply'] } };
  },
  'workspace.destroy': async (world) => {
    const name = world.unique('workspace');
    const id = await makeWorkspace(world.owner, world.name, name);
    const answer = expectStatus(await world.owner.delete(`${P}/workspaces/${id}`), 204);
    const items = expectStatus(await world.owner.get(of(world, 'recoverable-items')), 200).body.data;
    const { attributes } = items.find((item: { id: string }) => item.id === id);
    return { answer, id, meta: { name, forced: true, recoverable_until: attributes['recoverable-until'] } };
  },
  'workspace.recover': async (world) => {
    const { id, name, project } = await deletedWorkspace(world);
    const answer = expectStatus(await world.owner.post(`${P}/recoverable-items/${id}/actions/recover`), 200);
    return { answer, id, meta: { name, project_id: project } };
  },
  'workspace.purge': async (world) => {
    const { id, name } = await deletedWorkspace(world);
    const answer = expectStatus(await world.owner.delete(`${P}/recoverable-items/${id}`), 204);
    return { answer, id, meta: { name, expired: false } };
  },
  'workspace.lock': async (world) => {
    const id = await freshWorkspace(world);
    return { answer: await lock(world.owner, id), id, meta: { reason: 'why' } };
  },
  'workspace.lease_lock': async (world) => {
    const id = await freshWorkspace(world);
    const answer = expectStatus(
      await world.owner.post(`${P}/workspaces/${id}/actions/lock`, { 'expires-in': 60 }),
      200,
    );
    return { answer, id, meta: { expires_at: answer.body.data.attributes['lock-expires-at'] } };
  },
  'workspace.unlock': async (world) => {
    const id = await freshWorkspace(world);
    await lock(world.owner, id);
    return {
      answer: expectStatus(await world.owner.post(`${P}/workspaces/${id}/actions/unlock`), 200),
      id,
      meta: null,
    };
  },
  'workspace.force_unlock': async (world) => {
    const id = await freshWorkspace(world);
    await lock(world.server, id);
    return {
      answer: expectStatus(await world.owner.post(`${P}/workspaces/${id}/actions/force-unlock`), 200),
      id,
      meta: null,
    };
  },
  'workspace.add_team': addTeam('workspace'),
  'workspace.update_team_permissions': updateTeam('workspace'),
  'workspace.remove_team': removeTeam('workspace'),
  'workspace_comment.create': async (world) => {
    const { run } = await freshRun(world);
    const answer = expectStatus(
      await world.owner.post(`${P}/runs/${run}/comments`, resource('comments', { body: 'Hm.' })),
      201,
    );
    return { answer, id: answer.body.data.id, meta: { resource: run } };
  },
};

/** Makes a workspace with everything whose reads are recorded. */
export const makeShowcase = async (world: CatalogueWorld) => {
  const { workspace, version } = await makeStates(world);
  const configuration = await makeConfigurationVersion(world.owner, workspace);
  const run = await makeRun(world.owner, workspace);
  const output = dataOf(await world.server.get(`${P}/state-versions/${version}`)).relationships.outputs.data[0]
    .id as string;
  const set = dataOf(
    await world.owner.post(of(world, 'varsets'), resource('varsets', { name: world.unique('set'), global: true })),
  );
  const inSet = dataOf(
    await world.owner.post(
      `${P}/varsets/${set.id}/relationships/vars`,
      resource('vars', { key: 'inset', value: 'v', category: 'terraform' }),
    ),
  );
  return { workspace, version, run, configuration, output, set: set.id as string, inSet: inSet.id as string };
};
