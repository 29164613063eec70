import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { expectStatus, makeOrganization, makeProject, refusalOf, resource } from '../../../../test/support/seeds.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../../test/support/git-host.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { workspacesDefinition } from '../index.js';
import { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
});

afterAll(() => server.close());

const PATH = '/api/v2/organizations/acme/workspaces';
const LATEST = new ToolReleases().latest;

let count = 0;
const newName = (): string => `ws-${(count += 1)}`;

type Attributes = Readonly<Record<string, unknown>>;

const create = (attributes: object = {}, relationships?: object): Promise<ApiResponse> =>
  server.post(PATH, resource('workspaces', { name: newName(), ...attributes }, relationships));
const createWithAttributes = async (attributes: object = {}, relationships?: object): Promise<string> =>
  expectStatus(await create(attributes, relationships), 201).body.data.id as string;
const update = (id: string, attributes: object, relationships?: object): Promise<ApiResponse> =>
  server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes, relationships));
const getAttributes = async (id: string): Promise<Attributes> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes as Attributes;

const at = (path: string): string => `/data/attributes/${path}`;

/** Returns the number of events of a workspace. */
const version = async (id: string): Promise<number> =>
  Number(
    (await server.database.row<{ version: number }>(sql`select version from event_store.streams where stream = ${id}`))
      ?.version,
  );

const flag = 'must be true or false';
const AUTO_DESTROY =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";
const REPO = { identifier: 'acme/net', 'github-app-installation-id': 'ghain-1' };
const RENDERED_REPO = { ...REPO, branch: '', 'ingress-submodules': false, 'tags-regex': null };
const NONE_OVERWRITTEN = { 'execution-mode': false, 'agent-pool': false };
const NOTHING = {};
/** Values that the document shows in another form than the request. */
const RENDERED_VALUES = new Map<unknown, object>([
  [REPO, expect.objectContaining(RENDERED_REPO)],
  [NOTHING, NONE_OVERWRITTEN],
]);

describe('each attribute of the request tables', () => {
  it.each([
    ['allow-destroy-plan', true, false, 'no', `Allow destroy plan ${flag}`],
    ['assessments-enabled', false, true, 1, `Assessments enabled ${flag}`],
    ['auto-apply', false, true, 'true', `Auto apply ${flag}`],
    ['auto-apply-run-trigger', false, true, null, `Auto apply run trigger ${flag}`],
    ['auto-destroy-at', null, '2020-01-01T00:00:00.000Z', 'tomorrow', 'Auto destroy at must be an ISO 8601 time'],
    ['auto-destroy-activity-duration', null, '14d', '2w', AUTO_DESTROY],
    ['description', null, 'of it all', 7, 'Description must be a string'],
    ['execution-mode', 'remote', 'local', 'cloud', 'Execution mode must be one of remote, local, agent'],
    ['file-triggers-enabled', true, false, [], `File triggers enabled ${flag}`],
    ['global-remote-state', false, true, 'yes', `Global remote state ${flag}`],
    ['inherits-project-auto-destroy', true, false, 'no', `Inherits project auto destroy ${flag}`],
    ['operations', true, false, 'no', `Operations ${flag}`],
    ['project-remote-state', false, true, {}, `Project remote state ${flag}`],
    ['queue-all-runs', false, true, 0, `Queue all runs ${flag}`],
    ['speculative-enabled', true, false, 'no', `Speculative enabled ${flag}`],
    ['structured-run-output-enabled', true, false, 'no', `Structured run output enabled ${flag}`],
    ['iac-version', LATEST, '~> 1.5.0', 15, 'Iac version must be a string'],
    ['terraform-version', LATEST, '1.5.7', null, "Terraform version can't be blank"],
    ['trigger-patterns', [], ['/net/**/*'], '/net', 'Trigger patterns must be a list'],
    ['trigger-prefixes', [], ['net', 'lib'], '/net', 'Trigger prefixes must be a list'],
    ['vcs-repo', null, REPO, 'acme/net', 'Vcs repo must be an object'],
    ['working-directory', null, 'net/prod', false, 'Working directory must be a string'],
    ['setting-overwrites', NONE_OVERWRITTEN, NOTHING, true, 'Setting overwrites must be an object'],
  ])('keeps its value if another update omits it: %s', async (name, byDefault, value, wrong, detail) => {
    const expected = RENDERED_VALUES.get(value) ?? value;
    const untouched = await createWithAttributes();
    expect((await getAttributes(untouched))[name]).toEqual(byDefault);
    expect((await getAttributes(await createWithAttributes({ [name]: value })))[name]).toEqual(expected);
    expect(expectStatus(await update(untouched, { [name]: value }), 200).body.data.attributes[name]).toEqual(expected);
    // Attributes that another update omits stay.
    expect(expectStatus(await update(untouched, { name: newName() }), 200).body.data.attributes[name]).toEqual(
      expected,
    );
    expect(refusalOf(await create({ [name]: wrong }))).toEqual([at(name), detail]);
    expect(refusalOf(await update(untouched, { [name]: wrong }))).toEqual([at(name), detail]);
    expect((await getAttributes(untouched))[name]).toEqual(expected);
  });

  it.each([
    ['description', 'of it all', null],
    ['working-directory', 'net', null],
    ['auto-destroy-at', '2020-01-01T00:00:00+02:00', null],
    ['auto-destroy-at', '2020-01-01T00:00Z', null],
    ['auto-destroy-at', '20200101T000000Z', null],
    ['auto-destroy-activity-duration', '9999h', null],
    ['vcs-repo', REPO, null],
    ['trigger-patterns', ['a'], []],
    ['trigger-prefixes', ['a'], []],
  ])('%s is cleared by null', async (name, value, cleared) => {
    const id = await createWithAttributes({ [name]: value });
    expect(expectStatus(await update(id, { [name]: null }), 200).body.data.attributes[name]).toEqual(cleared);
  });

  it.each(['auto-destroy-at', 'auto-destroy-activity-duration'])('%s is cleared by a blank text', async (name) => {
    const id = await createWithAttributes({ [name]: name.endsWith('at') ? '2020-01-01T00:00:00Z' : '1d' });
    expect(expectStatus(await update(id, { [name]: '' }), 200).body.data.attributes[name]).toBeNull();
  });

  it('source-name and source-url are set by the creation only', async () => {
    const origin = { 'source-name': 'shop', 'source-url': 'https://shop.test' };
    const id = await createWithAttributes(origin);
    expect(await getAttributes(id)).toMatchObject({ ...origin, source: 'tfe-api' });
    const otherOrigin = { 'source-name': 'other', 'source-url': null, source: 'other' };
    expect(expectStatus(await update(id, otherOrigin), 200).body.data.attributes).toMatchObject({
      ...origin,
      source: 'tfe-api',
    });
    expect(await version(id)).toBe(1);
  });

  it('the type may be omitted, but must not be another one', async () => {
    expectStatus(await server.post(PATH, { data: { attributes: { name: newName() } } }), 201);
    for (const type of ['', null])
      expectStatus(await server.post(PATH, { data: { type, attributes: { name: newName() } } }), 201);
    const answer = await server.post(PATH, resource('projects', { name: newName() }));
    expect(refusalOf(answer)).toEqual(['/data/type', 'Type must be workspaces']);
  });

  it('an update without attributes is accepted, and changes nothing', async () => {
    const id = await createWithAttributes();
    const before = await server.get(`/api/v2/workspaces/${id}`);
    const answer = expectStatus(await server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces' } }), 200);
    expect(answer.body).toEqual(before.body);
    expect(await version(id)).toBe(1);
  });
});

describe('several problems in one request', () => {
  const wrong = {
    name: 'no name',
    'auto-destroy-activity-duration': '2w',
    'execution-mode': 'agent',
    'global-remote-state': true,
    'project-remote-state': true,
  };
  const all = ['name', 'auto-destroy-activity-duration', 'agent-pool-id', 'project-remote-state'].map(at);
  const pointersIn = ({ body }: ApiResponse): string[] =>
    body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer);

  it('are all reported at once, and nothing changes', async () => {
    const id = await createWithAttributes();
    expect(pointersIn(expectStatus(await create(wrong), 422))).toEqual(all);
    expect(pointersIn(expectStatus(await update(id, wrong), 422))).toEqual(all);
    expect(await version(id)).toBe(1);
  });
});

describe('an update with null', () => {
  it.each([{ attributes: null }, { relationships: null }, { relationships: { project: null, 'tag-bindings': null } }])(
    'for an optional part of the body changes nothing: %j',
    async (body) => {
      const id = await createWithAttributes();
      expectStatus(await server.patch(`/api/v2/workspaces/${id}`, { data: { type: 'workspaces', ...body } }), 200);
      expect(await version(id)).toBe(1);
    },
  );
});

describe('the name of a workspace', () => {
  it.each([
    ['with space', 'Name may only contain letters, numbers, dashes and underscores'],
    ['dotted.name', 'Name may only contain letters, numbers, dashes and underscores'],
    ['', "Name can't be blank"],
    [7, 'Name must be a string'],
    ['x'.repeat(91), 'Name is too long (at most 90 characters)'],
  ])('is refused as %j', async (name, detail) => {
    expect(refusalOf(await server.post(PATH, resource('workspaces', { name })))).toEqual([at('name'), detail]);
    expect(refusalOf(await update(await createWithAttributes(), { name }))).toEqual([at('name'), detail]);
  });

  it('is required', async () => {
    const answer = await server.post(PATH, resource('workspaces', { description: 'nameless' }));
    expect(refusalOf(answer)).toEqual([at('name'), "Name can't be blank"]);
  });

  it('is unique in the organization, and keeps its case', async () => {
    const [one, other] = ['Taken_1-a', newName()];
    await createWithAttributes({ name: one });
    const id = await createWithAttributes({ name: other });
    const takenError = [at('name'), 'Name has already been taken'];
    expect(refusalOf(await create({ name: one }))).toEqual(takenError);
    expect(refusalOf(await update(id, { name: one }))).toEqual(takenError);
    expect(refusalOf(await update(id, { name: 'taken_1-a' }))).toEqual(takenError);
    expect(expectStatus(await update(id, { name: 'Free_1-a' }), 200).body.data.attributes.name).toBe('Free_1-a');
    expectStatus(await server.get(`${PATH}/${other}`), 404);
    expect(expectStatus(await server.get(`${PATH}/free_1-a`), 200).body.data.id).toBe(id);
  });
});

describe('auto-destruction', () => {
  it('is the project’s until the workspace has its own', async () => {
    const project = await makeProject(server, 'acme', 'Ephemeral');
    const byProject = async (duration: string | null) =>
      expectStatus(
        await server.patch(
          `/api/v2/projects/${project}`,
          resource('projects', { 'auto-destroy-activity-duration': duration }),
        ),
        200,
      );
    await byProject('7d');
    const id = await createWithAttributes({}, { project: { data: { type: 'projects', id: project } } });
    const set = async (attributes: object) => expectStatus(await update(id, attributes), 200).body.data.attributes;
    const state = (duration: string | null, inherits: boolean, time: string | null = null) => ({
      'auto-destroy-activity-duration': duration,
      'auto-destroy-at': time,
      'inherits-project-auto-destroy': inherits,
    });
    const withDuration = (duration: string | null) => ({ 'auto-destroy-activity-duration': duration });

    expect(await getAttributes(id)).toMatchObject({ ...state('7d', true), 'auto-destroy-status': null });
    expect((await server.get(`${PATH}?filter[project][id]=${project}`)).body.data[0].attributes).toMatchObject(
      state('7d', true),
    );
    expect(await set(withDuration('3h'))).toMatchObject(state('3h', false));
    expect(await set(withDuration(null))).toMatchObject(state('7d', true));
    expect(await set({ 'inherits-project-auto-destroy': false })).toMatchObject(state(null, false));
    // As the provider sends it with the other attributes.
    expect(await set({ ...withDuration(null), 'auto-destroy-at': null })).toMatchObject(state(null, false));
    expect(await set({ 'inherits-project-auto-destroy': true })).toMatchObject(state('7d', true));
    const time = '2020-01-01T00:00:00.000Z';
    expect(await set({ 'auto-destroy-at': time })).toMatchObject(state(null, false, time));
    expect(await set(withDuration('2d'))).toMatchObject(state('2d', false, time));
    expect(await set({ ...withDuration('2d'), 'inherits-project-auto-destroy': true })).toMatchObject(
      state('7d', true),
    );
    await byProject(null);
    expect(await getAttributes(id)).toMatchObject(state(null, true));
  });

  it.each(['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', '2026-01-01T25:00:00Z', 'x'])(
    'is refused at %s',
    async (time) => {
      const problem = [at('auto-destroy-at'), 'Auto destroy at must be an ISO 8601 time'];
      expect(refusalOf(await create({ 'auto-destroy-at': time }))).toEqual(problem);
    },
  );

  it('does not depend on whether destroy plans are allowed', async () => {
    const id = await createWithAttributes();
    expect(await getAttributes(id)).toMatchObject({
      actions: { 'is-destroyable': true },
      'can-queue-destroy-plan': true,
    });
    expect(expectStatus(await update(id, { 'allow-destroy-plan': false }), 200).body.data.attributes).toMatchObject({
      actions: { 'is-destroyable': false },
      'can-queue-destroy-plan': false,
    });
  });
});

describe('triggers of a workspace', () => {
  it('are patterns or prefixes: one clears the other', async () => {
    const id = await createWithAttributes({ 'trigger-prefixes': ['net'] });
    const set = async (attributes: object) => {
      const { 'trigger-patterns': patterns, 'trigger-prefixes': prefixes } = expectStatus(
        await update(id, attributes),
        200,
      ).body.data.attributes;
      return [patterns, prefixes];
    };
    expect(await set({ 'trigger-patterns': ['a/**'] })).toEqual([['a/**'], []]);
    expect(await set({ 'trigger-prefixes': [] })).toEqual([['a/**'], []]);
    expect(await set({ 'trigger-prefixes': ['b'], 'trigger-patterns': [] })).toEqual([[], ['b']]);
    const problem = [at('trigger-patterns'), 'Trigger patterns cannot be given together with trigger prefixes'];
    expect(refusalOf(await update(id, { 'trigger-patterns': ['a'], 'trigger-prefixes': ['b'] }))).toEqual(problem);
    expect(refusalOf(await create({ 'trigger-patterns': ['a'], 'trigger-prefixes': ['b'] }))).toEqual(problem);
  });
});

describe('the repository of a workspace', () => {
  const BLANK = [at('vcs-repo/identifier'), "Identifier can't be blank"];
  const NO_TOKEN = [at('vcs-repo/oauth-token-id'), "OAuth token can't be blank"];

  it.each([
    [{}, BLANK],
    [{ branch: 'main' }, BLANK],
    [{ 'oauth-token-id': 'ot-1' }, BLANK],
    [{ identifier: 'acme/net' }, NO_TOKEN],
    [
      { ...REPO, 'tags-regex': '(?=v)' },
      [at('vcs-repo/tags-regex'), expect.stringContaining('must be a regular expression of RE2')],
    ],
    [{ ...REPO, 'ingress-submodules': 'no' }, [at('vcs-repo/ingress-submodules'), `Ingress submodules ${flag}`]],
  ])('is refused as %j if there is none yet', async (repo, problem) => {
    expect(refusalOf(await create({ 'vcs-repo': repo }))).toEqual(problem);
    expect(refusalOf(await update(await createWithAttributes(), { 'vcs-repo': repo }))).toEqual(problem);
  });

  it('cannot have a token and an app installation', async () => {
    const { token } = await makeOauthClient(server, 'acme', await openTestGitHost());
    const repo = { ...REPO, 'oauth-token-id': token };
    const problem = [at('vcs-repo'), expect.stringContaining('must not both be given')];
    expect(refusalOf(await create({ 'vcs-repo': repo }))).toEqual(problem);
    expect(refusalOf(await update(await createWithAttributes(), { 'vcs-repo': repo }))).toEqual(problem);
  });

  it('is not replaced by an empty object alone', async () => {
    const id = await createWithAttributes({ 'vcs-repo': REPO });
    expect(refusalOf(await update(id, { 'vcs-repo': {} }))).toEqual(BLANK);
    expect(await getAttributes(id)).toMatchObject({ 'vcs-repo': RENDERED_REPO });
  });

  it('does not change if an empty object is sent with empty setting overwrites, as pytfe does', async () => {
    const id = await createWithAttributes({ 'vcs-repo': REPO });
    expectStatus(await update(id, { 'vcs-repo': {}, 'setting-overwrites': {} }), 200);
    expect(await getAttributes(id)).toMatchObject({ 'vcs-repo': RENDERED_REPO });
    expect(await getAttributes(await createWithAttributes({ 'vcs-repo': {}, 'setting-overwrites': {} }))).toMatchObject(
      { 'vcs-repo': null },
    );
  });

  it('uses the default branch if the branch is omitted or blank', async () => {
    for (const branch of [undefined, '', null]) {
      const id = await createWithAttributes({ 'vcs-repo': { ...REPO, branch } });
      expect(await getAttributes(id)).toMatchObject({ 'vcs-repo': RENDERED_REPO, 'vcs-repo-identifier': 'acme/net' });
    }
  });

  it('replaces the token by an app installation', async () => {
    const { token } = await makeOauthClient(server, 'acme', await openTestGitHost());
    const id = await createWithAttributes({ 'vcs-repo': { identifier: 'acme/net', 'oauth-token-id': token } });
    const installed = { 'vcs-repo': { 'vcs-app-installation-id': 'ghain-1' } };
    expect(expectStatus(await update(id, installed), 200).body.data.attributes['vcs-repo']).toMatchObject({
      identifier: 'acme/net',
      'oauth-token-id': null,
      'github-app-installation-id': 'ghain-1',
    });
    const before = await version(id);
    expectStatus(await update(id, { 'vcs-repo': (await getAttributes(id))['vcs-repo'] }), 200);
    expect(await version(id)).toBe(before);
  });
});

describe('shared state of a workspace', () => {
  const problem = [
    at('project-remote-state'),
    'Project remote state cannot be enabled when global remote state sharing is enabled',
  ];

  it('is shared with the project or with the organization', async () => {
    expect(refusalOf(await create({ 'global-remote-state': true, 'project-remote-state': true }))).toEqual(problem);
    expect(
      refusalOf(
        await update(await createWithAttributes({ 'global-remote-state': true }), { 'project-remote-state': true }),
      ),
    ).toEqual(problem);
  });
});

describe('the project of a workspace', () => {
  const into = (id: string | null) => ({ project: { data: { type: 'projects', id } } });

  it('is the organization’s default if the creation omits it, and stays if an update sends a blank one', async () => {
    const project = await makeProject(server, 'acme', 'Moved');
    const plain = await createWithAttributes({}, into(''));
    const id = await createWithAttributes({}, into(project));
    const projectOf = async (workspace: string) =>
      (await server.get(`/api/v2/workspaces/${workspace}`)).body.data.relationships.project.data.id as string;
    const { body } = await server.get('/api/v2/organizations/acme');
    expect(await projectOf(plain)).toBe(body.data.relationships['default-project'].data.id);
    for (const same of [into(''), into(null), into(project), { project: { data: null } }]) {
      expectStatus(await update(id, {}, same), 200);
      expect(await projectOf(id)).toBe(project);
    }
    expect(await version(id)).toBe(1);
    const nowhere = ['/data/relationships/project/data/id', 'Project does not exist'];
    expect(refusalOf(await update(id, {}, into('prj-none')))).toEqual(nowhere);
    expect(refusalOf(await create({}, into('prj-none')))).toEqual(nowhere);
  });
});

it('the view of workspaces equals the view rebuilt from the log', async () => {
  await expectViewsMatchLog(server, [workspacesDefinition]);
});
