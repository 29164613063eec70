import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOCK_ENDED, LOCK_ENDED_BY_FORCE, LOCK_STARTED, sql, type Sql } from '#platform/kernel';
import { rebuildView, verifyView, listViews, type RebuildableView } from '#storage/event-store';
import {
  expectStatus,
  makeRemotePool,
  makeAgentToken,
  makeConfigurationVersion,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeRun,
  makeWorkspace,
  reportBody,
  resource,
  type SeededOrganization,
} from '../../../../test/support/seeds.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  startTestServer,
  type ApiResponse,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { newStateVersion, stateFile } from '../../../../test/support/state-file.js';
import { toFieldCode } from '../writing/history.field-codes.js';
import { listFields } from '../writing/history-fields.js';
import { waitForHistory } from '../writing/history.follower.js';
import { createHistoryDefinition } from '../history.module.js';

const clock = new FixedClock();
let server: TestServer;
let agents: ApiTestClient;
let acme: SeededOrganization;
let id: string;

/** Documents as returned directly after a step. Permissions are those of the present caller, so they are removed. */
type Snapshot = {
  readonly step: string;
  readonly at: string;
  readonly organization: string;
  readonly name: string;
  readonly document: object;
  readonly included: readonly object[];
  readonly list: readonly object[];
  readonly total: number;
  /** Responses of the endpoints of tags and bindings by path. */
  readonly bound: Readonly<Record<string, object>>;
};

const snapshots: Snapshot[] = [];
const names = { organization: 'acme', workspace: 'one' };

const plain = (data: any): object => ({ ...data, attributes: { ...data.attributes, permissions: null } });
const listOf = ({ body }: ApiResponse) => ({
  list: body.data.map(plain) as object[],
  total: body.meta.pagination['total-count'] as number,
});

const path = (rest = ''): string => `/api/v2/workspaces/${id}${rest}`;
const listPath = (organization: string): string => `/api/v2/organizations/${organization}/workspaces`;

const INCLUDING = '?include=organization,project,tag_bindings,effective_tag_bindings,current_state_version,outputs';

/** Removes links to files, because each response contains newly signed links. */
const includedIn = ({ body }: ApiResponse): readonly object[] =>
  body.included.map((one: any) => (one.type === 'state-versions' ? { type: one.type, id: one.id } : plain(one)));

const readBound = async (query = ''): Promise<Readonly<Record<string, object>>> => {
  const paths = [
    path('/tag-bindings'),
    path('/relationships/tag-bindings'),
    path('/effective-tag-bindings'),
    path('/relationships/tags'),
    `/api/v2/projects/${acme.defaultProject}/tag-bindings`,
    `/api/v2/projects/${acme.defaultProject}/effective-tag-bindings`,
  ];
  const answers: Record<string, object> = {};
  for (const one of paths) {
    const { data, meta } = expectStatus(await server.get(`${one}${query}`), 200).body;
    answers[one] = { data, meta };
  }
  return answers;
};

const step = async (what: string, happens: () => Promise<unknown>): Promise<void> => {
  const at = clock.pass({ seconds: 60 });
  await happens();
  snapshots.push({
    step: what,
    at,
    organization: names.organization,
    name: names.workspace,
    document: plain(expectStatus(await server.get(path()), 200).body.data),
    included: includedIn(expectStatus(await server.get(path(INCLUDING)), 200)),
    ...listOf(expectStatus(await server.get(listPath(names.organization)), 200)),
    bound: await readBound(),
  });
};

const patch = (attributes: object, relationships?: object): Promise<ApiResponse> =>
  server.patch(path(), resource('workspaces', attributes, relationships));

const did = async (answer: Promise<ApiResponse>, status: number): Promise<ApiResponse> =>
  expectStatus(await answer, status);

const upload = async (serial: number, lineage: string): Promise<void> => {
  const outputs = { zone: { value: 'a', type: 'string' }, address: { value: 'b', type: 'string' } };
  const state = newStateVersion(stateFile({ serial, lineage, outputs }), { inline: true });
  await did(server.post(path('/state-versions'), state), 201);
};

const addVariable = async (key: string): Promise<string> => {
  const body = resource('vars', { key, value: 'v', category: 'terraform' });
  return (await did(server.post(path('/vars'), body), 201)).body.data.id as string;
};

const report = (run: string, status: string): Promise<ApiResponse> =>
  did(agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, { 'resource-additions': 1 })), 200);

const sshKey = async (): Promise<string> => {
  const body = resource('ssh-keys', { name: 'deploy', value: '-----BEGIN OPENSSH PRIVATE KEY-----' });
  return (await did(server.post('/api/v2/organizations/acme/ssh-keys', body), 201)).body.data.id as string;
};

const live = async (): Promise<void> => {
  const land = await makeProject(server, 'acme', 'land');
  await makeWorkspace(server, 'acme', 'beside');
  await step('created', async () => {
    const tags = { data: [{ type: 'tags', attributes: { name: 'flat' } }] };
    const bindings = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] };
    id = await makeWorkspace(server, 'acme', 'one', { description: 'first' }, { tags, 'tag-bindings': bindings });
  });
  await step('updated', () => did(patch({ 'auto-apply': true, 'working-directory': 'net', description: null }), 200));
  await step('locked', () => did(server.post(path('/actions/lock'), { reason: 'applying the network' }), 200));
  const lineage = 'a9dbb0e4-4a1a-4a5a-8f25-8f4d4d2f9e11';
  await step('uploaded to', () => upload(1, lineage));
  await step('unlocked', () => did(server.post(path('/actions/unlock')), 200));
  await step('tagged', () =>
    did(server.post(path('/relationships/tags'), { data: [{ type: 'tags', attributes: { name: 'more' } }] }), 204),
  );
  await step('bound', () =>
    did(
      server.patch(path('/tag-bindings'), {
        data: [
          { type: 'tag-bindings', attributes: { key: 'env', value: 'test' } },
          { type: 'tag-bindings', attributes: { key: 'Zone', value: 'a' } },
        ],
      }),
      200,
    ),
  );
  await step('untagged', () =>
    did(server.delete(path('/relationships/tags'), { data: [{ type: 'tags', attributes: { name: 'flat' } }] }), 204),
  );
  await step('its project bound', () =>
    did(
      server.patch(`/api/v2/projects/${acme.defaultProject}/tag-bindings`, {
        data: [{ type: 'tag-bindings', attributes: { key: 'region', value: 'eu' } }],
      }),
      200,
    ),
  );
  await step('given a tag that overrides one of its project', () =>
    did(
      server.patch(path('/tag-bindings'), {
        data: [{ type: 'tag-bindings', attributes: { key: 'region', value: 'us' } }],
      }),
      200,
    ),
  );
  let reserved = '';
  const strict = { 'disable-overrides': true };
  await step('its key reserved', async () => {
    reserved = await makeReservedTagKey(server, 'acme', 'region', strict);
  });
  const change = (attributes: object) =>
    did(server.patch(`/api/v2/reserved-tag-keys/${reserved}`, resource('reserved-tag-keys', attributes)), 200);
  await step('overrides allowed', () => change({ 'disable-overrides': false }));
  await step('overrides forbidden', () => change(strict));
  await step('another key reserved', () => change({ key: 'elsewhere' }));
  await step('no key reserved', () => did(server.delete(`/api/v2/reserved-tag-keys/${reserved}`), 204));
  await step('moved', () => did(patch({}, { project: { data: { type: 'projects', id: land } } }), 200));
  await step('renamed', async () => {
    await did(patch({ name: 'uno' }), 200);
    names.workspace = 'uno';
  });
  const variables: string[] = [];
  for (const key of ['region', 'Zone', 'a_b', 'aB']) {
    await step(`given ${key}`, async () => void variables.push(await addVariable(key)));
  }
  await step('its variable renamed', () =>
    did(server.patch(path(`/vars/${variables[0]}`), resource('vars', { key: 'alpha' })), 200),
  );
  await step('its variable taken', () => did(server.delete(path(`/vars/${variables[1]}`)), 204));
  const key = await sshKey();
  const assign = (to: string | null) =>
    did(server.patch(path('/relationships/ssh-key'), resource('workspaces', { id: to })), 200);
  await step('with a key', () => assign(key));
  await step('without a key', () => assign(null));
  await step('with a key again', () => assign(key));
  await step('its key deleted', () => did(server.delete(`/api/v2/ssh-keys/${key}`), 204));
  const setPolicy = (days: number) =>
    did(
      server.post(
        path('/relationships/data-retention-policy'),
        resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': days }),
      ),
      200,
    );
  await step('with a policy', () => setPolicy(30));
  await step('with another policy', () => setPolicy(60));
  await step('without a policy', () => did(server.delete(path('/relationships/data-retention-policy')), 204));
  await step('configured', () => makeConfigurationVersion(server, id));
  await step('configured for plans', () => makeConfigurationVersion(server, id, { speculative: true }));
  let run = '';
  await step('at a run', async () => void (run = await makeRun(server, id, { 'auto-apply': false })));
  await step('being planned', () => report(run, 'planning'));
  await step('planned', () => report(run, 'planned'));
  await step('confirmed', () => did(server.post(`/api/v2/runs/${run}/actions/apply`), 202));
  await step('being applied', () => report(run, 'applying'));
  await step('applied', () => report(run, 'applied'));
  await step('at another run', async () => void (run = await makeRun(server, id)));
  await step('errored', async () => {
    await report(run, 'planning');
    await report(run, 'errored');
  });
  await step('locked again', () => did(server.post(path('/actions/lock')), 200));
  await step('uploaded to again', () => upload(2, lineage));
  await step('forced open', () => did(server.post(path('/actions/force-unlock')), 200));
  const project = `/api/v2/projects/${land}`;
  const mode = { 'default-execution-mode': 'local', 'setting-overwrites': { 'default-execution-mode': true } };
  await step('its project’s default changed', () => did(server.patch(project, resource('projects', mode)), 200));
  const organizationPolicy = '/api/v2/organizations/acme/relationships/data-retention-policy';
  await step('its organization with a policy', () =>
    did(
      server.post(
        organizationPolicy,
        resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 90 }),
      ),
      200,
    ),
  );
  await step('its organization without a policy', () => did(server.delete(organizationPolicy), 204));
  await step('its organization on another feature set', () =>
    did(
      server.post('/api/v2/admin/organizations/acme/subscription', {
        data: {
          type: 'subscriptions',
          relationships: { 'feature-set': { data: { type: 'feature-sets', id: 'free' } } },
        },
      }),
      200,
    ),
  );
  await step('its organization with another address', () =>
    did(server.patch('/api/v2/organizations/acme', resource('organizations', { email: 'new@example.com' })), 200),
  );
  await step('its organization renamed', async () => {
    const attributes = { name: 'apex', 'allow-force-delete-workspaces': true };
    await did(server.patch('/api/v2/organizations/acme', resource('organizations', attributes)), 200);
    names.organization = 'apex';
  });
};

beforeAll(async () => {
  server = await startTestServer({ followers: true, clock });
  acme = await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
  await live();
});

afterAll(() => server.close());

const historyView = (): RebuildableView => {
  const [view] = listViews([createHistoryDefinition(server.store.kinds)]);
  if (!view) throw new Error('the history has no view');
  return view;
};

const migrationStatements = async (): Promise<readonly Sql[]> => {
  const text = await readFile(join(import.meta.dirname, '../sql', '004_write_again.sql'), 'utf8');
  const statements = text.replaceAll(/--.*$/gm, '').split(';');
  return statements.filter((statement) => statement.trim() !== '').map((statement) => sql.raw(statement));
};

const stored = () =>
  Promise.all([
    server.database.rows(sql`select * from history_versions order by subject, ordinal`),
    server.database.rows(sql`select * from history_runs order by run`),
    server.database.rows(sql`select * from history_locks order by id`),
  ]);

/** Writes all rows again as the version of the code did that had no codes of fields (005_slim_versions.sql). */
const writeEarlierRows = async (): Promise<void> => {
  const rows = await server.database.rows<{ readonly data: Readonly<Record<string, unknown>> }>(
    sql`select data from history_versions where data is not null`,
  );
  const codes = listFields(...rows.map(({ data }) => data)).map((field) => ({ field, code: toFieldCode(field) }));
  expect(new Set(codes.map(({ code }) => code)).size).toBe(codes.length);
  const [locked, ended, forced] = [LOCK_STARTED, LOCK_ENDED, LOCK_ENDED_BY_FORCE].map(toFieldCode);
  await server.database.rows(sql`
    insert into history_locks (id, workspace, organization, holder, reason, locked_at, unlocked_at, unlocked_by, forced)
    select l.event, l.subject, creation.organization, l.data -> 'lock' -> 'holder', l.data -> 'lock' ->> 'reason', l.since,
           u.since, u.by, u.forced
      from history_versions l
      join history_versions creation on creation.subject = l.subject and creation.ordinal = 1
      cross join lateral (
        select v.since, v.fields ~ ${forced} as forced, case when v.fields ~ ${forced}
                 then jsonb_build_object('type', v.actor_type, 'id', v.actor_id, 'name', v.actor_name)
                 else l.data -> 'lock' -> 'holder' end as by
          from history_versions v where v.subject = l.subject and v.ordinal > l.ordinal and v.fields ~ ${ended}
         order by v.ordinal limit 1) u
     where l.fields ~ ${locked}`);
  await server.database.rows(sql`
    update history_versions h
       set organization = creation.organization, type = e.type, version = e.version, request = e.request::text, fields = '?',
           frame = (select max(base.ordinal) from history_versions base where base.subject = h.subject
                       and base.frame = base.ordinal and base.ordinal <= h.ordinal),
           changed = array(select c.field from jsonb_to_recordset(${sql.json(codes)}::jsonb) as c (field text, code text)
                            where strpos(h.fields, c.code) > 0),
           data = case when h.subject like 'ws-%'
             then jsonb_build_object('updatedAt', to_char(h.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) || h.data
             else h.data end
      from history_versions creation, event_store.events e
     where creation.subject = h.subject and creation.ordinal = 1 and e.id = h.event`);
};

const readHistory = () =>
  Promise.all(
    [
      '/history?page[size]=100',
      '/lock-history',
      '/history?filter[field]=tag-bindings',
      '/history?filter[actor]=admin',
    ].map(async (query) => expectStatus(await server.get(path(query)), 200).body),
  );

describe('a workspace as of each step of its life', () => {
  it('equals the document at that time, by id and by the names at that time', async () => {
    for (const { step: what, at, organization, name, document } of snapshots) {
      const byId = expectStatus(await server.get(path(`?as-of=${at}`)), 200);
      const byName = expectStatus(await server.get(`${listPath(organization)}/${name}?as-of=${at}`), 200);
      expect([what, plain(byId.body.data)]).toEqual([what, document]);
      expect(byName.body).toEqual(byId.body);
    }
  });

  it('includes the resources that it had at that time', async () => {
    const textOf = (one: Snapshot | undefined): string => JSON.stringify(one?.included);
    const changed = snapshots.filter((one, n) => textOf(one) !== textOf(snapshots[n - 1]));
    for (const { step: what, at, included } of changed) {
      const then = expectStatus(await server.get(path(`${INCLUDING}&as-of=${at}`)), 200);
      expect([what, includedIn(then)]).toEqual([what, included]);
    }
    const [{ at, organization, name, included } = { at: '', organization: '', name: '', included: [] }] = snapshots;
    const asOf = `${INCLUDING}&as-of=${at}`;
    for (const url of [
      `${listPath(organization)}/${name}${asOf}`,
      `${listPath(organization)}${asOf}&search[name]=one`,
    ]) {
      const then = expectStatus(await server.get(url), 200);
      expect(includedIn(then)).toEqual(included);
    }
  });

  it('is in the list that was returned at that time', async () => {
    for (const { step: what, at, organization, list, total } of snapshots) {
      const then = listOf(expectStatus(await server.get(`${listPath(organization)}?as-of=${at}`), 200));
      expect([what, then]).toEqual([what, { list, total }]);
    }
  });

  it('has the tags and bindings that it had at that time, and so has its project', async () => {
    for (const { step: what, at, bound } of snapshots)
      expect([what, await readBound(`?as-of=${at}`)]).toEqual([what, bound]);
  });

  it('stays unchanged until the next step', async () => {
    for (const [n, { at, document }] of snapshots.entries()) {
      const next = snapshots[n + 1];
      const last = new Date(Date.parse(next?.at ?? '2100-01-01') - 1).toISOString();
      expect(at < last).toBe(true);
      expect(plain(expectStatus(await server.get(path(`?as-of=${last}`)), 200).body.data)).toEqual(document);
    }
  });

  it('returns 404 before its creation', async () => {
    const [first] = snapshots;
    const before = new Date(Date.parse(first?.at ?? '') - 1).toISOString();
    expect((await server.get(path(`?as-of=${before}`))).status).toBe(404);
    expect((await server.get(`${listPath('acme')}/one?as-of=${before}`)).status).toBe(404);
    const list = listOf(expectStatus(await server.get(`${listPath('acme')}?as-of=${before}`), 200));
    expect(list.list).toHaveLength(1);
  });

  it('is not found by an earlier or a later name', async () => {
    const atRename = snapshots.find(({ step: what }) => what === 'renamed')?.at ?? '';
    const before = new Date(Date.parse(atRename) - 1).toISOString();
    expect((await server.get(`${listPath('acme')}/uno?as-of=${before}`)).status).toBe(404);
    expect((await server.get(`${listPath('acme')}/one?as-of=${atRename}`)).status).toBe(404);
    expect((await server.get(`${listPath('apex')}/one?as-of=${before}`)).status).toBe(404);
    expect((await server.get(`${listPath('acme')}?as-of=${clock.now().toISOString()}`)).status).toBe(404);
  });
});

/** No organization has this name, so the wait covers the events of all organizations. */
const EVERYTHING = { organization: '' };

describe('the view of the history', () => {
  it('equals the view that is rebuilt from the log', async () => {
    await waitForHistory(server.store, EVERYTHING);
    const before = await stored();
    expect(await verifyView(server.store, historyView(), clock.now())).toEqual([]);
    await rebuildView(server.store, historyView(), { now: new Date() });
    expect(await stored()).toEqual(before);
  });

  it('is read the same from rows of the earlier version, until they are rebuilt', async () => {
    const [before, history] = [await stored(), await readHistory()];
    await writeEarlierRows();
    expect(await readHistory()).toEqual(history);
    for (const { step: what, at, organization, document, list, total, bound } of snapshots) {
      const then = expectStatus(await server.get(path(`?as-of=${at}`)), 200);
      expect([what, plain(then.body.data)]).toEqual([what, document]);
      const all = expectStatus(await server.get(`${listPath(organization)}?as-of=${at}`), 200);
      expect([what, listOf(all)]).toEqual([what, { list, total }]);
      expect([what, await readBound(`?as-of=${at}`)]).toEqual([what, bound]);
    }
    await rebuildView(server.store, historyView(), { now: new Date() });
    expect(await stored()).toEqual(before);
  });

  it('is written again from the start of the log after the migration that empties it', async () => {
    const session = await server.database.session();
    try {
      await session.run(sql`update history_versions set data = '{}'`);
      for (const statement of await migrationStatements()) await session.run(statement);
    } finally {
      await session.close();
    }
    await makeOrganization(server, 'bystander');
    await waitForHistory(server.store, EVERYTHING);
    expect(await verifyView(server.store, historyView(), clock.now())).toEqual([]);
  });
});

describe('a deleted workspace', () => {
  let death: string;

  beforeAll(async () => {
    death = clock.pass({ seconds: 60 });
    await did(server.delete(path()), 204);
  });

  it('returns 404 from its deletion on, and its former documents for earlier times', async () => {
    expect((await server.get(path())).status).toBe(404);
    expect((await server.get(path(`?as-of=${death}`))).status).toBe(404);
    expect((await server.get(path('?as-of=2100-01-01'))).status).toBe(404);
    for (const { step: what, at, organization, document, list, total } of snapshots) {
      const then = expectStatus(await server.get(path(`?as-of=${at}`)), 200);
      expect([what, plain(then.body.data)]).toEqual([what, document]);
      const all = listOf(expectStatus(await server.get(`${listPath(organization)}?as-of=${at}`), 200));
      expect(all).toEqual({ list, total });
    }
    const [bound] = snapshots.filter(({ step: what }) => what === 'bound');
    const then = expectStatus(await server.get(path(`/tag-bindings?as-of=${bound?.at}`)), 200);
    expect(then.body).toEqual(bound?.bound[path('/tag-bindings')]);
  });

  it('leaves a view that equals the rebuilt one', async () => {
    await waitForHistory(server.store, EVERYTHING);
    expect(await verifyView(server.store, historyView(), clock.now())).toEqual([]);
  });

  it('leaves nothing after its organization is deleted, and other organizations keep their history', async () => {
    const other = await makeOrganization(server, 'other');
    await did(server.delete('/api/v2/organizations/apex'), 204);
    await waitForHistory(server.store, EVERYTHING);
    const tables = await stored();
    const organizations = new Set(tables.flat().map((row) => row['organization']));
    expect(organizations.has(acme.id)).toBe(false);
    expect(organizations.has(other.id)).toBe(true);
    const [{ at } = { at: '' }] = snapshots;
    expect((await server.get(path(`?as-of=${at}`))).status).toBe(404);
    expect((await server.get(`${listPath('acme')}?as-of=${at}`)).status).toBe(404);
    expect(await verifyView(server.store, historyView(), clock.now())).toEqual([]);
  });
});
