import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PROJECT_FIELDS, WORKSPACE_FIELDS, type CustomProjectAccess, type WorkspaceAccess } from '#api/access';
import { toAttributes } from '#api/json-api';
import { toAttributeName } from '#platform/kernel';
import {
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
} from '../support/seeds.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import {
  newTeam,
  projectsSeen,
  isShutOut,
  workspacesSeen,
  type ModelCaller,
  type Flag,
  type AccessModel,
  type OnProject,
  type OnWorkspace,
  type VisibleResources,
} from './access-model.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const USERS = ['ada', 'ben', 'eve'] as const;
const TEAMS = ['core', 'crew'] as const;
const WORKSPACES = ['one', 'two', 'three'] as const;
const PROJECTS = ['land', 'sea'] as const;
const FLAGS: readonly Flag[] = [
  'manageWorkspaces',
  'manageProjects',
  'readWorkspaces',
  'readProjects',
  'manageRunTasks',
];

/** One organization on the server, with the ids of all resources that the model names. */
class Organization {
  readonly model: AccessModel = {
    teams: new Map(TEAMS.map((team) => [team, newTeam()])),
    workspaces: new Map(WORKSPACES.map((workspace) => [workspace, PROJECTS[0]])),
    members: new Set(USERS),
    invited: new Set(),
    owners: new Set(),
    closed: false,
  };
  readonly people = new Map<string, SeededMember>();
  /** Tokens by the name of the user or team. */
  readonly tokens = new Map<string, string>();
  readonly ids = new Map<string, string>();
  /** Ids of team access, by team, kind and target. */
  readonly grants = new Map<string, string>();
  private revoked: string[] = [];

  constructor(
    readonly name: string,
    private readonly ownersTeam: string,
  ) {}

  static async founded(name: string): Promise<Organization> {
    const { ownersTeam } = await makeOrganization(server, name);
    const organization = new Organization(name, ownersTeam);
    for (const project of PROJECTS) organization.ids.set(project, await makeProject(server, name, project));
    for (const workspace of WORKSPACES) {
      const project = toOne('project', 'projects', organization.id(PROJECTS[0]));
      organization.ids.set(workspace, await makeWorkspace(server, name, workspace, {}, project));
    }
    for (const team of TEAMS) await organization.makeTeam(team);
    for (const user of USERS) {
      const person = await makeMember(server, name, `${user}-${name}`);
      organization.people.set(user, person);
      organization.tokens.set(user, person.token);
    }
    // A user that has not accepted yet can be in teams already.
    for (const step of [expelling('eve'), inviting('eve')]) await step.run(organization);
    return organization;
  }

  id(of: string): string {
    return this.ids.get(of) ?? of;
  }

  person(user: string): SeededMember {
    const person = this.people.get(user);
    if (!person) throw new Error(`${user} is not here`);
    return person;
  }

  team(name: string) {
    const team = this.model.teams.get(name);
    if (!team) throw new Error(`${name} is no team`);
    return team;
  }

  api(caller: ModelCaller): ApiTestClient | null {
    const token = this.tokens.get('user' in caller ? caller.user : caller.team);
    return token === undefined ? null : server.as(token);
  }

  async makeTeam(team: string): Promise<void> {
    this.ids.set(team, await makeTeam(server, this.name, team));
    this.model.teams.set(team, newTeam());
    for (const key of this.grants.keys()) if (key.startsWith(`${team} `)) this.grants.delete(key);
    this.revoke(team);
  }

  /** Moves the token to the list of tokens that must get 401. */
  revoke(name: string): void {
    const token = this.tokens.get(name);
    if (token !== undefined) this.revoked.push(token);
    this.tokens.delete(name);
  }

  get ownersPath(): string {
    return `/api/v2/teams/${this.ownersTeam}/relationships/users`;
  }

  /** Returns the statuses that revoked tokens get. */
  async answersToRevoked(): Promise<number[]> {
    const answers = this.revoked.map((token) => server.as(token).get('/api/v2/account/details'));
    this.revoked = [];
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  isMemberOrInvited(user: string): boolean {
    return this.model.members.has(user) || this.model.invited.has(user);
  }
}

const toOne = (name: string, type: string, id: string): object => ({ [name]: { data: { type, id } } });

const ok = (answer: ApiResponse): ApiResponse => {
  expect([answer.status, answer.status < 300 ? '' : answer.text]).toEqual([answer.status, '']);
  return answer;
};

/** A step over HTTP and in the model. A step that is impossible in the current state does nothing. */
type Step = { readonly title: string; readonly run: (organization: Organization) => Promise<void> };

/** Makes a step print its name, so that failures list the steps. */
const printable = (step: Step): Step => Object.assign(step, { [fc.toStringMethod]: () => step.title });

const give = async (
  organization: Organization,
  on: 'workspace' | 'project',
  { team, target, attributes }: { readonly team: string; readonly target: string; readonly attributes: object },
): Promise<void> => {
  const { grants } = organization;
  const type = `team-${on}s`;
  const key = `${team} ${on} ${target}`;
  const before = grants.get(key);
  if (before) return void ok(await server.patch(`/api/v2/${type}/${before}`, resource(type, attributes)));
  const relationships = {
    ...toOne('team', 'teams', organization.id(team)),
    ...toOne(on, `${on}s`, organization.id(target)),
  };
  const response = ok(await server.post(`/api/v2/${type}`, resource(type, attributes, relationships)));
  grants.set(key, response.body.data.id as string);
};

const take = async (organization: Organization, on: string, team: string, target: string): Promise<boolean> => {
  const key = `${team} ${on} ${target}`;
  const id = organization.grants.get(key);
  if (!id) return false;
  ok(await server.delete(`/api/v2/team-${on}s/${id}`));
  return organization.grants.delete(key);
};

const customOnProject = ({ project, ...inEach }: CustomProjectAccess): object => ({
  access: 'custom',
  'project-access': toAttributes(project),
  'workspace-access': toAttributes(inEach),
});

const one = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const inWorkspaces = {
  runs: one(WORKSPACE_FIELDS.runs),
  variables: one(WORKSPACE_FIELDS.variables),
  stateVersions: one(WORKSPACE_FIELDS.stateVersions),
  sentinelMocks: one(WORKSPACE_FIELDS.sentinelMocks),
  runTasks: fc.boolean(),
  policyOverrides: fc.boolean(),
};
const anyOnWorkspace: fc.Arbitrary<OnWorkspace> = fc.oneof(
  one(['read', 'plan', 'write', 'admin'] as const).map((level) => ({ level })),
  fc.record<WorkspaceAccess>({ ...inWorkspaces, workspaceLocking: fc.boolean() }).map((custom) => ({ custom })),
);
const anyOnProject: fc.Arbitrary<OnProject> = fc.oneof(
  one(['read', 'write', 'maintain', 'admin'] as const).map((level) => ({ level })),
  fc
    .record<CustomProjectAccess>({
      ...inWorkspaces,
      create: fc.boolean(),
      locking: fc.boolean(),
      delete: fc.boolean(),
      move: fc.boolean(),
      project: fc.record({
        settings: one(PROJECT_FIELDS.settings),
        teams: one(PROJECT_FIELDS.teams),
        variableSets: one(PROJECT_FIELDS.variableSets),
      }),
    })
    .map((custom) => ({ custom })),
);

const users = one(USERS);
const teams = one(TEAMS);

const anyStep: fc.Arbitrary<Step> = fc
  .oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(teams, one(WORKSPACES), anyOnWorkspace).map(([team, target, on]) => giving(team, target, on)),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(teams, one(PROJECTS), anyOnProject).map(([team, target, on]) => givingAll(team, target, on)),
    },
    { weight: 2, arbitrary: fc.tuple(teams, one(WORKSPACES)).map(([team, target]) => taking(team, target)) },
    { weight: 2, arbitrary: fc.tuple(teams, one(PROJECTS)).map(([team, target]) => takingAll(team, target)) },
    { weight: 4, arbitrary: fc.tuple(one(WORKSPACES), one(PROJECTS)).map(([workspace, to]) => moving(workspace, to)) },
    { weight: 5, arbitrary: fc.tuple(users, teams).map(([user, team]) => joining(user, team)) },
    { weight: 2, arbitrary: fc.tuple(users, teams).map(([user, team]) => leaving(user, team)) },
    {
      weight: 3,
      arbitrary: fc.tuple(teams, one(FLAGS), fc.boolean()).map(([team, flag, is]) => turning(team, flag, is)),
    },
    { weight: 2, arbitrary: fc.tuple(users, fc.boolean()).map(([user, is]) => owning(user, is)) },
    { weight: 1, arbitrary: fc.boolean().map(closing) },
    { weight: 1, arbitrary: users.map(expelling) },
    { weight: 2, arbitrary: users.map(inviting) },
    { weight: 3, arbitrary: users.map(accepting) },
    { weight: 1, arbitrary: users.map(renewing) },
    { weight: 3, arbitrary: teams.map(issuing) },
    { weight: 1, arbitrary: teams.map(replacing) },
  )
  .map(printable);

function giving(team: string, target: string, access: OnWorkspace): Step {
  const attributes =
    'level' in access ? { access: access.level } : { access: 'custom', ...toAttributes(access.custom) };
  return {
    title: `${team} gets ${JSON.stringify(access)} on ${target}`,
    run: async (organization) => {
      await give(organization, 'workspace', { team, target, attributes });
      organization.team(team).onWorkspace.set(target, access);
    },
  };
}

function givingAll(team: string, target: string, access: OnProject): Step {
  const attributes = 'level' in access ? { access: access.level } : customOnProject(access.custom);
  return {
    title: `${team} gets ${JSON.stringify(access)} on project ${target}`,
    run: async (organization) => {
      await give(organization, 'project', { team, target, attributes });
      organization.team(team).onProject.set(target, access);
    },
  };
}

function taking(team: string, target: string): Step {
  return {
    title: `${team} loses ${target}`,
    run: async (organization) => {
      if (await take(organization, 'workspace', team, target)) organization.team(team).onWorkspace.delete(target);
    },
  };
}

function takingAll(team: string, target: string): Step {
  return {
    title: `${team} loses project ${target}`,
    run: async (organization) => {
      if (await take(organization, 'project', team, target)) organization.team(team).onProject.delete(target);
    },
  };
}

function moving(workspace: string, to: string): Step {
  return {
    title: `${workspace} moves to ${to}`,
    run: async (organization) => {
      const body = resource('workspaces', {}, toOne('project', 'projects', organization.id(to)));
      ok(await server.patch(`/api/v2/workspaces/${organization.id(workspace)}`, body));
      organization.model.workspaces.set(workspace, to);
    },
  };
}

/** The API names an invited user by the e-mail address, and a member by the username. */
const userBody = (organization: Organization, user: string): object => {
  const { username, email } = organization.person(user);
  return { data: [{ type: 'users', id: organization.model.invited.has(user) ? email : username }] };
};

function joining(user: string, team: string): Step {
  return {
    title: `${user} joins ${team}`,
    run: async (organization) => {
      if (!organization.isMemberOrInvited(user)) return;
      const path = `/api/v2/teams/${organization.id(team)}/relationships/users`;
      ok(await server.post(path, userBody(organization, user)));
      organization.team(team).members.add(user);
    },
  };
}

function leaving(user: string, team: string): Step {
  return {
    title: `${user} leaves ${team}`,
    run: async (organization) => {
      if (!organization.team(team).members.has(user)) return;
      const path = `/api/v2/teams/${organization.id(team)}/relationships/users`;
      ok(await server.delete(path, userBody(organization, user)));
      organization.team(team).members.delete(user);
    },
  };
}

function turning(team: string, flag: Flag, is: boolean): Step {
  return {
    title: `${team} ${is ? 'gets' : 'loses'} ${flag}`,
    run: async (organization) => {
      const body = resource('teams', { 'organization-access': { [toAttributeName(flag)]: is } });
      ok(await server.patch(`/api/v2/teams/${organization.id(team)}`, body));
      const { flags } = organization.team(team);
      if (is) flags.add(flag);
      else flags.delete(flag);
    },
  };
}

function owning(user: string, is: boolean): Step {
  return {
    title: `${user} ${is ? 'owns' : 'owns no longer'}`,
    run: async (organization) => {
      const { model } = organization;
      if (!model.members.has(user)) return;
      const body = userBody(organization, user);
      ok(await (is ? server.post(organization.ownersPath, body) : server.delete(organization.ownersPath, body)));
      if (is) model.owners.add(user);
      else model.owners.delete(user);
    },
  };
}

function closing(closed: boolean): Step {
  return {
    title: closed ? 'the organization refuses tokens of users' : 'the organization accepts tokens of users',
    run: async (organization) => {
      const body = resource('organizations', { 'user-tokens-enabled': !closed });
      ok(await server.patch(`/api/v2/organizations/${organization.name}`, body));
      organization.model.closed = closed;
    },
  };
}

function expelling(user: string): Step {
  return {
    title: `${user} is removed`,
    run: async (organization) => {
      const { model } = organization;
      if (!organization.isMemberOrInvited(user)) return;
      ok(await server.delete(`/api/v2/organization-memberships/${organization.person(user).membership}`));
      model.members.delete(user);
      model.invited.delete(user);
      model.owners.delete(user);
      for (const { members } of model.teams.values()) members.delete(user);
    },
  };
}

function inviting(user: string): Step {
  return {
    title: `${user} is invited back`,
    run: async (organization) => {
      if (organization.isMemberOrInvited(user)) return;
      const person = organization.person(user);
      const body = resource('organization-memberships', { email: person.email });
      const path = `/api/v2/organizations/${organization.name}/organization-memberships`;
      const response = ok(await server.post(path, body));
      organization.people.set(user, { ...person, membership: response.body.data.id as string });
      organization.model.invited.add(user);
    },
  };
}

function accepting(user: string): Step {
  return {
    title: `${user} accepts the invitation`,
    run: async (organization) => {
      const { invited, members } = organization.model;
      if (!invited.has(user)) return;
      const path = `/api/v2/organization-memberships/${organization.person(user).membership}/actions/accept`;
      ok((await organization.api({ user })?.post(path)) as ApiResponse);
      invited.delete(user);
      members.add(user);
    },
  };
}

function renewing(user: string): Step {
  return {
    title: `${user} gets a new token`,
    run: async (organization) => {
      const path = `/api/v2/users/${organization.person(user).id}/authentication-tokens`;
      const token = await makeToken(server, path);
      const all = ok(await server.as(token).get(path)).body.data as { id: string }[];
      // The newest token comes first. The others are old.
      for (const { id } of all.slice(1)) ok(await server.delete(`/api/v2/authentication-tokens/${id}`));
      organization.revoke(user);
      organization.tokens.set(user, token);
    },
  };
}

function issuing(team: string): Step {
  return {
    title: `${team} gets a token that replaces the old one`,
    run: async (organization) => {
      const token = await makeToken(server, `/api/v2/teams/${organization.id(team)}/authentication-token`);
      organization.revoke(team);
      organization.tokens.set(team, token);
    },
  };
}

function replacing(team: string): Step {
  return {
    title: `${team} is deleted, and another takes its name`,
    run: async (organization) => {
      ok(await server.delete(`/api/v2/teams/${organization.id(team)}`));
      await organization.makeTeam(team);
    },
  };
}

const visibleIn = ({ status, body }: ApiResponse, names: readonly string[]): VisibleResources | null => {
  if (status === 404 || status === 401) return null;
  expect(status).toBe(200);
  return new Map(
    (body.data as any[])
      .filter(({ attributes }) => names.includes(attributes.name as string))
      .map(({ attributes }): [string, string[]] => [
        attributes.name as string,
        Object.keys(attributes.permissions as object)
          .filter((permission) => attributes.permissions[permission])
          .toSorted(),
      ]),
  );
};

const askers: readonly ModelCaller[] = [...USERS.map((user) => ({ user })), ...TEAMS.map((team) => ({ team }))];

/** Returns the path of one resource, a different one in each turn, and the status that the caller must get. */
const single = (
  organization: Organization,
  turn: number,
  workspaces: VisibleResources | null,
  projects: VisibleResources | null,
) => {
  const workspace = WORKSPACES[turn % WORKSPACES.length] ?? 'one';
  const project = PROJECTS[turn % PROJECTS.length] ?? 'land';
  const here = workspaces?.get(workspace) ?? [];
  const at = `/api/v2/workspaces/${organization.id(workspace)}`;
  const requests = [
    [at, here.length > 0],
    [`${at}/vars`, here.includes('can-read-variable')],
    [`${at}/state-versions`, here.includes('can-read-state-versions')],
    [`/api/v2/projects/${organization.id(project)}`, projects?.has(project) ?? false],
  ] as const;
  const [path, may] = requests[turn % requests.length] ?? requests[0];
  return { path, status: may ? 200 : 404 };
};

/** Expects lists and single documents to match the model for every caller. */
const check = async (organization: Organization, step: number): Promise<void> => {
  const { model, name } = organization;
  expect(new Set([401, ...(await organization.answersToRevoked())])).toEqual(new Set([401]));
  const checks = askers.map(async (caller, index) => {
    const api = organization.api(caller);
    if (!api) return;
    const workspaces = workspacesSeen(model, caller);
    const projects = projectsSeen(model, caller, PROJECTS);
    const { path, status: answer } = single(organization, step + index, workspaces, projects);
    const status = isShutOut(model, caller) ? 401 : answer;
    const [listed, listedProjects, document] = await Promise.all([
      api.get(`/api/v2/organizations/${name}/workspaces`),
      api.get(`/api/v2/organizations/${name}/projects`),
      api.get(path),
    ]);
    expect({
      asker: caller,
      workspaces: visibleIn(listed, WORKSPACES),
      projects: visibleIn(listedProjects, PROJECTS),
      [path]: document.status,
    }).toEqual({ asker: caller, workspaces, projects, [path]: status });
  });
  await Promise.all(checks);
};

describe('the access of users and teams after random changes', () => {
  it(
    'matches a plain model of the organization at the next request',
    async () => {
      let organizations = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 15, maxLength: 25 }), async (steps) => {
          const organization = await Organization.founded(`org-${(organizations += 1)}`);
          for (const [index, step] of steps.entries()) {
            await step.run(organization);
            await check(organization, index);
          }
        }),
        { numRuns: countRounds(10), endOnFailure: true },
      );
    },
    scaleLimit(300_000),
  );
});
