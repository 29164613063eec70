import { gzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import type { Database } from '#platform/postgres';
import { sql } from '#platform/kernel';
import type { ApiResponse, ApiTestClient } from './server.js';

/** Returns the body of a JSON:API request. */
export const resource = (type: string, attributes: object = {}, relationships?: object): object => ({
  data: { type, attributes, ...(relationships ? { relationships } : {}) },
});

/** Expects the response to have this status, and shows its text otherwise. Returns the response. */
export const expectStatus = (answer: ApiResponse, status: number): ApiResponse => {
  expect({ status: answer.status, text: answer.status === status ? '' : answer.text }).toEqual({ status, text: '' });
  return answer;
};

/** Expects a 422. Returns pointer and detail of its first error. */
export const refusalOf = (answer: ApiResponse): readonly [pointer: string, detail: string] => {
  const [{ detail, source }] = expectStatus(answer, 422).body.errors;
  return [source.pointer, detail];
};

const created = (answer: ApiResponse): ApiResponse => expectStatus(answer, 201);

export type SeededOrganization = {
  readonly name: string;
  /** External id, `org-…`, which never changes. */
  readonly id: string;
  readonly defaultProject: string;
  readonly ownersTeam: string;
};

export const makeOrganization = async (api: ApiTestClient, name: string): Promise<SeededOrganization> => {
  const attributes = { name, email: `ops@${name}.test` };
  const { body } = created(await api.post('/api/v2/organizations', resource('organizations', attributes)));
  const { relationships } = body.data;
  return {
    name,
    id: body.data.attributes['external-id'] as string,
    defaultProject: relationships['default-project'].data.id as string,
    ownersTeam: relationships['owners-team'].data.id as string,
  };
};

/** Creates a workspace. Returns its id. */
export const makeWorkspace = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
  relationships?: object,
): Promise<string> => {
  const body = resource('workspaces', { name, ...attributes }, relationships);
  return created(await api.post(`/api/v2/organizations/${organization}/workspaces`, body)).body.data.id as string;
};

export const makeProject = async (api: ApiTestClient, organization: string, name: string): Promise<string> =>
  created(await api.post(`/api/v2/organizations/${organization}/projects`, resource('projects', { name }))).body.data
    .id as string;

/** Creates a token at this path, such as `/api/v2/teams/team-…/authentication-token`. Returns its secret. */
export const makeToken = async (api: ApiTestClient, path: string): Promise<string> =>
  created(await api.post(path)).body.data.attributes.token as string;

export const makeOrganizationToken = (api: ApiTestClient, organization: string): Promise<string> =>
  makeToken(api, `/api/v2/organizations/${organization}/authentication-token`);

export const makeTeam = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
): Promise<string> => {
  const body = resource('teams', { name, ...attributes });
  return created(await api.post(`/api/v2/organizations/${organization}/teams`, body)).body.data.id as string;
};

/** A member of an organization with a token of their own. */
export type SeededMember = ApiTestClient & {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly membership: string;
  readonly token: string;
};

/** Invites a user and accepts. `api` must be an administrator of the site. */
export const makeMember = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  teams: readonly string[] = [],
): Promise<SeededMember> => {
  const email = `${name}@people.test`;
  const into = { teams: { data: teams.map((id) => ({ type: 'teams', id })) } };
  const invited = await api.post(
    `/api/v2/organizations/${organization}/organization-memberships`,
    resource('organization-memberships', { email }, into),
  );
  const { id: membership, relationships } = created(invited).body.data;
  expectStatus(await api.post(`/api/v2/organization-memberships/${membership}/actions/accept`), 200);
  const id = relationships.user.data.id as string;
  const token = await makeToken(api, `/api/v2/users/${id}/authentication-tokens`);
  const { username } = expectStatus(await api.as(token).get('/api/v2/account/details'), 200).body.data.attributes;
  return { ...api.as(token), id, username, email, membership, token };
};

/** Reserves a tag key of the organization. Workspaces may override it by default. Returns its id. */
export const makeReservedTagKey = async (
  api: ApiTestClient,
  organization: string,
  key: string,
  attributes: object = {},
): Promise<string> => {
  const body = resource('reserved-tag-keys', { key, ...attributes });
  return created(await api.post(`/api/v2/organizations/${organization}/reserved-tag-keys`, body)).body.data
    .id as string;
};

/** Returns key-value tags for a request, as its data or as a relationship. */
export const tagBindings = (tags: Readonly<Record<string, string>>) => ({
  data: Object.entries(tags).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
});

/** Returns flat tags for a request, by name. */
export const flatTags = (...names: readonly string[]) => ({
  data: names.map((name) => ({ type: 'tags', attributes: { name } })),
});

/** Returns the id of a flat tag that a workspace of the organization has. */
export const idOfTag = async (api: ApiTestClient, organization: string, name: string): Promise<string> => {
  const { body } = expectStatus(
    await api.get(`/api/v2/organizations/${organization}/tags?q=${name}&page[size]=100`),
    200,
  );
  return body.data.find(({ attributes }: { attributes: { name: string } }) => attributes.name === name).id as string;
};

/** Adds key-value tags to the resource at this path, such as `workspaces/ws-…`, or overwrites them by key. */
export const bindTags = async (
  api: ApiTestClient,
  path: string,
  tags: Readonly<Record<string, string>>,
): Promise<void> => {
  expectStatus(await api.patch(`/api/v2/${path}/tag-bindings`, tagBindings(tags)), 200);
};

/** Returns a to-many relationship of a request or a document. */
export const related = (type: string, ...ids: readonly string[]) => ({ data: ids.map((id) => ({ type, id })) });

export const makeAgentPool = async (
  api: ApiTestClient,
  organization: string,
  name: string,
  attributes: object = {},
  relationships?: object,
): Promise<string> => {
  const body = resource('agent-pools', { name, ...attributes }, relationships);
  return created(await api.post(`/api/v2/organizations/${organization}/agent-pools`, body)).body.data.id as string;
};

/**
 * Creates the first organization, and the second with a name that differs only in case, as older versions allowed.
 * Resolves to the second.
 */
export const createSecondOrganization = async (
  server: ApiTestClient & { readonly database: Database },
  first: string,
  second: string,
): Promise<SeededOrganization> => {
  await makeOrganization(server, first);
  const { database } = server;
  const reserved = sql`organizations.reserved_names where folded = lower(${first})`;
  const [reservation] = await database.rows<{ organization: string }>(sql`select organization from ${reserved}`);
  await database.rows(sql`delete from ${reserved}`);
  const twin = await makeOrganization(server, second);
  await database.rows(sql`
    update organizations.reserved_names set organization = ${reservation?.organization} where folded = lower(${first})`);
  return twin;
};

/** Creates resources whose names differ only in case, as earlier versions allowed. */
export const allowSimilarNames = async (database: Database, create: () => Promise<void>): Promise<void> => {
  const replace = (body: string) =>
    database.rows(
      sql.raw(`create or replace function event_store.refuse_taken_name(_constraint text) returns void
                 language plpgsql as $body$ ${body} $body$`),
    );
  const [{ body } = { body: '' }] = await database.rows<{ body: string }>(
    sql`select prosrc as body from pg_proc where proname = 'refuse_taken_name'`,
  );
  await replace('begin end');
  await create();
  await replace(body);
};

/** Creates a pool that an owner has chosen for runs in `remote` mode. */
export const makeRemotePool = (api: ApiTestClient, organization: string, name: string): Promise<string> =>
  makeAgentPool(api, organization, name, { 'remote-runs-enabled': true });

/** The program of a release of OPA. */
export const OPA_PROGRAM = { url: 'https://tools.example.com/opa_linux_amd64_static', sha: 'c'.repeat(64) };

/** Adds a release of terraform to the site, as its administrator. Resolves to its id. */
export const makeToolVersion = async (client: ApiTestClient, version: string, attributes = {}): Promise<string> => {
  const body = resource('terraform-versions', { version, ...attributes });
  return expectStatus(await client.post('/api/v2/admin/terraform-versions', body), 201).body.data.id as string;
};

/** Adds a release of OPA to the site, as its administrator. Resolves to its id. */
export const makeOpaVersion = async (client: ApiTestClient, version: string, attributes = {}): Promise<string> => {
  const body = resource('opa-versions', { version, ...OPA_PROGRAM, ...attributes });
  return expectStatus(await client.post('/api/v2/admin/opa-versions', body), 201).body.data.id as string;
};

/** Creates a pool of the site, as a site administrator. */
export const makeSitePool = async (api: ApiTestClient, name: string): Promise<string> =>
  created(await api.post('/api/v2/admin/agent-pools', resource('agent-pools', { name }))).body.data.id as string;

export const makeAgentToken = async (api: ApiTestClient, pool: string): Promise<string> => {
  const body = resource('authentication-tokens', { description: 'for an agent' });
  return created(await api.post(`/api/v2/agent-pools/${pool}/authentication-tokens`, body)).body.data.attributes
    .token as string;
};

const teamAnd = (team: string, target: 'project' | 'workspace', id: string): object => ({
  team: { data: { type: 'teams', id: team } },
  [target]: { data: { type: `${target}s`, id } },
});

/** Grants a team access to a project. `attributes` are the fields of `custom` access. Returns the id of the access. */
export const grantProjectAccess = async (
  api: ApiTestClient,
  team: string,
  project: string,
  access: string,
  attributes: object = {},
): Promise<string> => {
  const body = resource('team-projects', { access, ...attributes }, teamAnd(team, 'project', project));
  return created(await api.post('/api/v2/team-projects', body)).body.data.id as string;
};

export const grantWorkspaceAccess = async (
  api: ApiTestClient,
  team: string,
  workspace: string,
  access: string,
): Promise<string> => {
  const body = resource('team-workspaces', { access }, teamAnd(team, 'workspace', workspace));
  return created(await api.post('/api/v2/team-workspaces', body)).body.data.id as string;
};

/** Uploads a configuration version that queues no run. Returns its id. */
export const makeConfigurationVersion = async (
  api: ApiTestClient,
  workspace: string,
  attributes: object = {},
): Promise<string> => {
  const body = resource('configuration-versions', { 'auto-queue-runs': false, ...attributes });
  const { data } = created(await api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, body)).body;
  // Uses the path only, because the test server does not listen at its public URL.
  const { pathname } = new URL(data.attributes['upload-url'] as string);
  expectStatus(await api.as(null).put(pathname, gzipSync('main.tf')), 200);
  return data.id as string;
};

export const runBody = (workspace: string, attributes: object = {}, relationships: object = {}): object =>
  resource('runs', attributes, { workspace: { data: { type: 'workspaces', id: workspace } }, ...relationships });

/** Creates a run in a workspace with a configuration version. Returns its id. */
export const makeRun = async (api: ApiTestClient, workspace: string, attributes: object = {}): Promise<string> =>
  created(await api.post('/api/v2/runs', runBody(workspace, attributes))).body.data.id as string;

/** Returns an executor's report about a run. */
export const reportBody = (status: string, attributes: object = {}): object =>
  resource('run-progress', { status, ...attributes });

export const runTriggerBody = (source: string): object =>
  resource('run-triggers', {}, { sourceable: { data: { type: 'workspaces', id: source } } });

/** Lets each apply of the source start a run in the workspace. */
export const makeRunTrigger = async (api: ApiTestClient, workspace: string, source: string): Promise<string> =>
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/run-triggers`, runTriggerBody(source)), 201).body.data
    .id as string;
