import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOutboundFetch, PrivateHosts } from '#platform/outbound';
import { SuppliedValues, type SourceConnection } from '#operations/service-imports';
import { runServiceImport, type ImportResult, type ServiceImport } from '../../apps/cadastre/src/import/run-import.js';
import { sql } from '#platform/kernel';
import { moduleDefinitions } from '../../apps/modules.js';
import { TickingClock } from '../support/clocks.js';
import { waitForFollowers } from '../support/event-log.js';
import {
  bindTags,
  expectStatus,
  flatTags,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { newStateVersion, pathOf, stateFile, type TestStateFile } from '../support/state-file.js';
import { identifiers, makeSet, makeVariable } from '../support/variables.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

let source: TestServer;
let target: TestServer;
const states: TestStateFile[] = [];

const upload = async (workspace: string, file: TestStateFile): Promise<void> => {
  expectStatus(await source.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  expectStatus(
    await source.post(`/api/v2/workspaces/${workspace}/state-versions`, newStateVersion(file, { inline: true })),
    201,
  );
  expectStatus(await source.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const fillSource = async (): Promise<void> => {
  await makeOrganization(source, 'acme');
  const project = await makeProject(source, 'acme', 'network');
  await bindTags(source, `projects/${project}`, { env: 'prod' });
  const team = await makeTeam(source, 'acme', 'builders', { visibility: 'organization' });
  await makeMember(source, 'acme', 'bob', [team]);
  const into = { project: { data: { type: 'projects', id: project } }, tags: flatTags('flat') };
  const settings = {
    description: 'the core',
    'auto-apply': true,
    'trigger-prefixes': ['modules'],
    'working-directory': 'core',
    'auto-destroy-at': '2027-01-01T00:00:00.000Z',
    'assessments-enabled': true,
    'source-name': 'a script',
    'source-url': 'https://example.com',
  };
  const core = await makeWorkspace(source, 'acme', 'core', settings, into);
  await bindTags(source, `workspaces/${core}`, { flat: '', tier: '1' });
  const edge = await makeWorkspace(source, 'acme', 'edge');
  await grantWorkspaceAccess(source, team, core, 'write');
  const vars = `/api/v2/workspaces/${core}/vars`;
  await makeVariable(source, vars, { key: 'region', value: 'eu', category: 'terraform', hcl: false });
  await makeVariable(source, vars, { key: 'SECRET', value: 'hidden', category: 'env', sensitive: true });
  const targets = { workspaces: identifiers('workspaces', core), projects: identifiers('projects', project) };
  const set = await makeSet(source, 'acme', 'shared', {}, targets);
  await makeVariable(source, `/api/v2/varsets/${set.id as string}/relationships/vars`, { key: 'size', value: '3' });
  await makeSet(source, 'acme', 'everywhere', { global: true, priority: true });
  const lineage = '3c8a1b0e-5d7c-0f5e-9a51-6f5f1f0e7c11';
  for (const serial of [1, 2, 5]) states.push(stateFile({ serial, lineage, names: [`n${serial}`] }));
  for (const file of states) await upload(core, file);
  await upload(edge, stateFile({ serial: 1, names: ['edge'] }));
};

const connect = (): SourceConnection => {
  const fetch = createOutboundFetch({ privateHosts: null, returnsRedirects: true });
  return {
    address: new URL(source.url),
    token: source.adminToken,
    requestsPerSecond: 100_000,
    documents: fetch,
    files: fetch,
    foreignFiles: createOutboundFetch({ privateHosts: new PrivateHosts([]), returnsRedirects: true }),
    now: () => performance.now(),
    pause: () => Promise.resolve(),
  };
};

const run = async (options: Partial<ServiceImport> = {}): Promise<ImportResult> => {
  const result = await runServiceImport(target.runtime, {
    connection: connect(),
    organization: 'acme',
    into: 'acme',
    owner: 'admin',
    values: new SuppliedValues(null),
    mode: 'apply',
    newestStates: null,
    signal: new AbortController().signal,
    progress: () => undefined,
    ...options,
  });
  if (result.failure) throw result.failure.error;
  return result;
};

const countsOf = ({ report }: ImportResult): object =>
  Object.fromEntries([...report.counts].map(([kind, counts]) => [kind, Object.fromEntries(counts)]));

/** Events that the requests of an import append besides its changes. */
const countEvents = ({ database }: TestServer) =>
  database.rows<{ events: number }>(sql`
    select count(*)::integer as events from event_store.events
     where type not like 'AuthenticationToken%' and type not like '%Listed' and type not like '%Shown'`);

beforeAll(async () => {
  const clock = new TickingClock();
  clock.time = Date.parse('2026-02-01T00:00:00.000Z');
  source = await startTestServer({ clock, forBrowsers: true });
  target = await startTestServer({ followers: true });
  await fillSource();
  await makeOrganization(target, 'acme');
  await makeOrganization(target, 'other');
  await makeWorkspace(target, 'acme', 'own');
});
afterAll(() => Promise.all([source.close(), target.close()]));

const COMPLETE = {
  projects: { withheld: 1, created: 1 },
  teams: { withheld: 1, created: 1 },
  workspaces: { created: 2 },
  'state versions': { created: 4 },
  'variable sets': { created: 2 },
  variables: { created: 2, waiting: 1 },
};

/** Fails after this number of requests, as the process that was killed sent no more. */
const connectUntil = (limit: number): SourceConnection => {
  const connection = connect();
  let sent = 0;
  const cut =
    (fetch: SourceConnection['files']): SourceConnection['files'] =>
    (...request) => {
      if ((sent += 1) > limit) throw new Error('interrupted');
      return fetch(...request);
    };
  return { ...connection, documents: cut(connection.documents), files: cut(connection.files) };
};

/** Counts workspaces with states that anybody could use. */
const countUnlockedCopies = async (): Promise<unknown> => {
  const row = await target.database.row<{ copies: number }>(sql`
    select count(*)::integer as copies from workspaces w
     where w.lock is null
       and exists (select from event_store.events e where e.stream = w.id and e.type = 'StateVersionCreated')`);
  return row?.copies;
};

/** Interrupts the import after ever more requests, until it ends. Resolves to its last result. */
const runInterrupted = async (options: Partial<ServiceImport>): Promise<ImportResult> => {
  for (let limit = 3; ; limit += 5) {
    try {
      return await run({ ...options, connection: connectUntil(limit) });
    } catch (error) {
      if ((error as Error).message !== 'interrupted') throw error;
      expect(await countUnlockedCopies()).toBe(0);
    }
  }
};

const idOfSource = async (name: string): Promise<string> =>
  expectStatus(await source.get(`/api/v2/organizations/acme/workspaces/${name}`), 200).body.data.id as string;

const describeStates = async (organization: string): Promise<readonly unknown[]> => {
  const path = `/api/v2/state-versions?filter[workspace][name]=core&filter[organization][name]=${organization}`;
  const { data } = expectStatus(await target.get(path), 200).body;
  return data.map(({ attributes: { serial, 'created-at': at } }: any) => [serial, at]);
};

describe('an import from another service', () => {
  it('changes nothing without --apply, and says what it would do', async () => {
    const before = await countEvents(target);
    const values = new SuppliedValues(null);
    const result = await run({ mode: 'dry run', values });
    expect(countsOf(result)).toMatchObject(COMPLETE);
    expect(result.summary.expected.requests).toBe(4);
    expect(await countEvents(target)).toEqual(before);
    expect(JSON.parse(values.format())).toEqual({ 'workspaces/core/env/SECRET': null });
  });

  it('copies everything with its original times, and locks the copies', async () => {
    const result = await run({ values: new SuppliedValues('{"workspaces/core/env/SECRET":"supplied"}') });
    expect(result.report.notes.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(countsOf(result)).toMatchObject({ ...COMPLETE, variables: { created: 3 } });
    const there = expectStatus(await source.get('/api/v2/organizations/acme/workspaces/core'), 200).body.data;
    const here = expectStatus(await target.get('/api/v2/organizations/acme/workspaces/core'), 200).body.data;
    const { attributes } = here;
    expect(attributes).toMatchObject({
      description: 'the core',
      'auto-apply': true,
      'created-at': there.attributes['created-at'],
      locked: true,
      'auto-destroy-at': null,
      'assessments-enabled': false,
      'source-name': 'a script',
      'tag-names': there.attributes['tag-names'],
    });
    expect(attributes['locked-reason']).toContain(`Imported from ${source.url}/app/acme`);
    const versions = expectStatus(
      await target.get('/api/v2/state-versions?filter[workspace][name]=core&filter[organization][name]=acme'),
      200,
    ).body.data;
    const original = expectStatus(
      await source.get('/api/v2/state-versions?filter[workspace][name]=core&filter[organization][name]=acme'),
      200,
    ).body.data;
    const describeVersion = ({ attributes: { serial, 'created-at': created } }: any) => [serial, created];
    expect(versions.map(describeVersion)).toEqual(original.map(describeVersion));
    const link = pathOf(versions[0].attributes['hosted-state-download-url'] as string);
    const { text } = expectStatus(await target.get(link), 200);
    expect(createHash('md5').update(text).digest('hex')).toBe(states[2]?.md5);
    const then = original[1].attributes['created-at'] as string;
    const past = expectStatus(await target.get(`/api/v2/workspaces/${here.id as string}?as-of=${then}`), 200).body.data;
    expect(past.relationships['current-state-version'].data.id).toBe(versions[1].id);
    expect(past.attributes.locked).toBe(false);
  });

  it('lets no variable set act on what existed, and keeps states from the time of the import', async () => {
    const { data } = expectStatus(await target.get('/api/v2/organizations/acme/varsets'), 200).body;
    expect(data.map(({ attributes: { name, global, priority } }: any) => [name, global, priority]).toSorted()).toEqual([
      ['everywhere', false, false],
      ['shared', false, false],
    ]);
    const shared = data.find(({ attributes }: any) => attributes.name === 'shared').relationships;
    // The copy of the project has no workspaces but copies.
    expect([shared.workspaces.data.length, shared.projects.data.length]).toEqual([1, 1]);
    const row = await target.database.row<{ old: number }>(sql`
      select count(*)::integer as old from state_versions where kept_since < '2026-06-01T00:00:00Z'`);
    expect(row?.old).toBe(0);
  });

  it('continues after states that cannot be read, and keeps the copy locked until it is complete', async () => {
    await makeOrganization(target, 'partial');
    const connection = connect();
    const files: SourceConnection['files'] = () => Promise.resolve(new Response(null, { status: 404 }));
    const { report } = await run({ into: 'partial', connection: { ...connection, files } });
    expect(Object.fromEntries(report.counts.get('state versions') ?? [])).toEqual({ failed: 2 });
    expect(report.counts.get('variable sets')?.get('created')).toBe(2);
    const readReason = async (): Promise<unknown> =>
      expectStatus(await target.get('/api/v2/organizations/partial/workspaces/core'), 200).body.data.attributes[
        'locked-reason'
      ];
    expect(await readReason()).toMatch(/^Being imported from/);
    await run({ into: 'partial' });
    expect(await readReason()).toMatch(/^Imported from/);
    expect(await describeStates('partial')).toEqual(await describeStates('acme'));
  });

  it('finds copies that were renamed here, and restores nothing that was deleted', async () => {
    const { data } = expectStatus(await target.get('/api/v2/organizations/partial/varsets'), 200).body;
    const set = data.find(({ attributes }: any) => attributes.name === 'everywhere').id as string;
    expectStatus(await target.delete(`/api/v2/varsets/${set}`), 204);
    const core = expectStatus(await target.get('/api/v2/organizations/partial/workspaces/core'), 200).body.data.id;
    const renamed = { data: { type: 'workspaces', attributes: { name: 'renamed' } } };
    expectStatus(await target.patch(`/api/v2/workspaces/${core as string}`, renamed), 200);
    const { report } = await run({ into: 'partial' });
    expect(report.count('created')).toBe(0);
    expect(report.notes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'variable sets', name: 'everywhere', outcome: 'kept' }),
        expect.objectContaining({ kind: 'workspaces', name: 'core', outcome: 'differs', detail: 'name' }),
      ]),
    );
  });

  it('changes nothing when it runs again, and then finds both sides the same', async () => {
    const before = await countEvents(target);
    const result = await run();
    expect(result.report.count('created')).toBe(0);
    expect(await countEvents(target)).toEqual(before);
    const verified = await run({ mode: 'verify' });
    expect(verified.report.notes.filter(({ outcome }) => outcome === 'differs')).toEqual([]);
  });

  it('finds states whose bytes differ', async () => {
    const connection = connect();
    const files: SourceConnection['files'] = () => Promise.resolve(new Response('{"version":4}'));
    const { report } = await run({ mode: 'verify', connection: { ...connection, files } });
    const differences = report.notes.filter(({ outcome }) => outcome === 'differs').map(({ detail }) => detail);
    expect(differences).toEqual(Array.from({ length: 4 }, () => expect.stringContaining('has other bytes')));
  });

  it('continues after interruptions, and copies everything once', async () => {
    const values = new SuppliedValues('{"workspaces/core/env/SECRET":"supplied"}');
    await runInterrupted({ into: 'other', values });
    expect(await describeStates('other')).toEqual(await describeStates('acme'));
    const verified = await run({ into: 'other', mode: 'verify' });
    expect(verified.report.notes.filter(({ outcome }) => outcome === 'differs')).toEqual([]);
    const { tokens } =
      (await target.database.row<{ tokens: number }>(sql`
      select count(*)::integer as tokens from authentication_tokens where description like 'cadastre import%'`)) ?? {};
    expect(tokens).toBe(0);
  });

  it('never changes a workspace of the same name that was not imported, nor a copy that is in use', async () => {
    await makeOrganization(target, 'third');
    const own = await makeWorkspace(target, 'third', 'core', { description: 'mine' });
    const { report } = await run({ into: 'third' });
    expect(report.notes).toContainEqual(expect.objectContaining({ kind: 'workspaces', name: 'core', outcome: 'kept' }));
    const vars = expectStatus(await target.get(`/api/v2/workspaces/${own}/vars`), 200).body.data;
    expect(vars).toEqual([]);
    const { id } = expectStatus(await target.get('/api/v2/organizations/third/workspaces/edge'), 200).body.data;
    expectStatus(await target.post(`/api/v2/workspaces/${id as string}/actions/unlock`), 200);
    await makeVariable(source, `/api/v2/workspaces/${await idOfSource('edge')}/vars`, { key: 'late', value: '1' });
    const later = await run({ into: 'third' });
    expect(later.report.count('created')).toBe(0);
    expect(later.report.notes).toContainEqual(
      expect.objectContaining({ name: 'workspaces/edge/terraform/late', outcome: 'differs' }),
    );
  });

  it('hands a workspace over, so that never both sides can change it, and back', async () => {
    const read = async (server: TestServer, organization: string) => {
      const path = `/api/v2/organizations/${organization}/workspaces/core`;
      const { attributes, relationships } = expectStatus(await server.get(path), 200).body.data;
      return { reason: attributes['locked-reason'], state: relationships['current-state-version'].data?.id as unknown };
    };
    const finished = await run({ mode: 'finish' });
    expect(finished.report.notes).toContainEqual(
      expect.objectContaining({
        name: 'core',
        outcome: 'created',
        detail: expect.stringContaining('organization = "acme"'),
      }),
    );
    expect((await read(source, 'acme')).reason).toMatch(/^Moved to .*\/app\/acme\/workspaces\/core$/);
    expect((await read(target, 'acme')).reason).toBeNull();
    expect((await run({ mode: 'finish' })).report.count('created')).toBe(0);
    await run({ mode: 'undo' });
    expect((await read(source, 'acme')).reason).toBeNull();
    expect((await read(target, 'acme')).reason).toContain('Imported from');
    const late = stateFile({ serial: 9, lineage: states[0]?.lineage ?? '' });
    await upload(await idOfSource('core'), late);
    await run({ mode: 'finish' });
    const path = '/api/v2/state-versions?filter[workspace][name]=core&filter[organization][name]=acme';
    const [newest] = expectStatus(await target.get(path), 200).body.data;
    expect([newest.attributes.serial, newest.id]).toEqual([9, (await read(target, 'acme')).state]);
  });

  it('takes nothing back that was changed here', async () => {
    const { id } = expectStatus(await target.get('/api/v2/organizations/acme/workspaces/core'), 200).body.data;
    const file = stateFile({ serial: 10, lineage: states[0]?.lineage ?? '' });
    expectStatus(await target.post(`/api/v2/workspaces/${id as string}/actions/lock`), 200);
    const versions = `/api/v2/workspaces/${id as string}/state-versions`;
    expectStatus(await target.post(versions, newStateVersion(file, { inline: true })), 201);
    expectStatus(await target.post(`/api/v2/workspaces/${id as string}/actions/unlock`), 200);
    const { report } = await run({ mode: 'undo' });
    expect(report.notes).toContainEqual(
      expect.objectContaining({ name: 'core', outcome: 'kept', detail: 'has states that the source lacks' }),
    );
    expect((await source.get('/api/v2/organizations/acme/workspaces/core')).body.data.attributes.locked).toBe(true);
  });

  it('gives no other caller an origin', async () => {
    const id = await makeWorkspace(target, 'acme', 'plain');
    const [row] = await target.database.rows<{ origins: number }>(sql`
      select count(*)::integer as origins from event_store.events e
        left join event_store.contexts shared on shared.id = e.shared_context
       where e.stream = ${id} and coalesce(e.context, shared.context) ? 'origin'`);
    expect(row?.origins).toBe(0);
  });

  it('leaves views that a rebuild would compute from the log', async () => {
    await waitForFollowers(target.store, 'workspace_history');
    await expectViewsMatchLog(target, moduleDefinitions);
  });
});
