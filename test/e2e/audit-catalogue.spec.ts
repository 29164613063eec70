import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVENT_CONTEXT } from '#storage/event-store';
import { sql } from '#platform/kernel';
import type { TrailEntry } from '#activity/audit-trail';
import { listStoredEntries, readLines, readTrail } from '../../libs/activity/audit-trail/spec.js';
import { auditedEvents } from '../docs/catalogue.js';
import { AdjustableClock } from '../support/clocks.js';
import {
  expectStatus,
  makeOrganization,
  makeOrganizationToken,
  makeToken,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { eventRegistry } from '../../apps/modules.js';
import { listSentEvents } from '../../libs/activity/live-events/messages/sent-events.js';
import { waitForFollowers } from '../support/event-log.js';
import { mark, StreamReader } from '../support/live-streams.js';
import { validateOcsf } from '../support/siem/index.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from '../support/server.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import {
  AUDITED_ACTIONS,
  makeShowcase,
  setUpCatalogue,
  type ActionResult,
  type CatalogueWorld,
} from './audit-catalogue.actions.js';
import { SIGNED_LINK_ACTIONS, REGISTRY_ACTIONS } from './audit-catalogue.registry.js';
import { SCIM_ACTIONS } from './audit-catalogue.scim.js';
import { SIGN_IN_ACTIONS } from './audit-catalogue.sign-in.js';
import { SITE_ACTIONS } from './audit-catalogue.site.js';
import { POLICY_ACTIONS } from './audit-catalogue.policies.js';
import { NOTIFICATION_ACTIONS } from './audit-catalogue.notifications.js';
import { WORKLOAD_ACTIONS } from './audit-catalogue.workloads.js';

// Each row of the catalogue that Cadastre records, from a real request to the trail, in two organizations at the same
// time.

let server: TestServer;
let worlds: readonly [CatalogueWorld, CatalogueWorld];

beforeAll(async () => {
  const clock = new AdjustableClock();
  const env = { CADASTRE_OUTBOUND_PRIVATE_HOSTS: 'localhost,127.0.0.1' };
  server = await startTestServer({ clock, followers: true, env });
  const pass = (ms: number): void => clock.pass({ ms });
  worlds = [await setUpCatalogue(server, 'acme', pass), await setUpCatalogue(server, 'rival', pass)];
});

afterAll(() => server.close());

const requestOf = ({ headers }: ApiResponse): string | null => headers.get('x-request-id');

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns the entries that the trail has for one request. */
const entriesOf = async (auditor: ApiTestClient, answer: ApiResponse, filter: Readonly<Record<string, string>> = {}) =>
  (await readTrail(auditor, { 'page[size]': '1000', ...filter })).data.filter(
    ({ request }) => request.id === requestOf(answer),
  );

const resourcesOf = async (auditor: ApiTestClient, answer: ApiResponse) =>
  (await entriesOf(auditor, answer)).map(({ resource: { type, action, id, meta } }) => [type, action, id, meta]);

const expected = (
  world: CatalogueWorld,
  row: string,
  { answer, id, meta, accessor = world.owner.id, auditor }: ActionResult,
): object => {
  const [type, action] = row.split('.');
  return {
    id: expect.stringMatching(UUID),
    version: '0',
    type: 'Resource',
    timestamp: expect.stringMatching(TIMESTAMP),
    auth: {
      accessor_id: accessor,
      description: accessor === world.owner.id ? world.owner.username : expect.any(String),
      type: 'Client',
      impersonator_id: null,
      organization_id: auditor ? id : world.id,
    },
    request: { id: requestOf(answer), address: '127.0.0.1', user_agent: expect.any(String) },
    resource: { id, type, action, meta },
  };
};

/** Does the same work in both organizations at once. */
const inBoth = (work: (world: CatalogueWorld) => Promise<void>): Promise<unknown> => Promise.all(worlds.map(work));

describe('the audit trail', () => {
  const ours = new Set(
    auditedEvents
      .filter(({ event, trails }) => event !== 'AuditFactReported' && trails !== 'site')
      .map((row) => `${row.type}.${row.action}`),
  );

  const actions = {
    ...AUDITED_ACTIONS,
    ...REGISTRY_ACTIONS,
    ...SIGN_IN_ACTIONS,
    ...SCIM_ACTIONS,
    ...WORKLOAD_ACTIONS,
    ...NOTIFICATION_ACTIONS,
    ...POLICY_ACTIONS,
  };
  // Only operators create sign-in links. Services of run tasks report results
  // (libs/runs/runs/task-results), executors report results of policies, and people override them
  // (libs/runs/runs/policy-evaluations). Jobs record lost executors (libs/runs/runs/run-leases), deletions of
  // their old data (libs/operations/retention), and starts and changes of
  // logs (libs/activity/audit-trail/log, libs/activity/audit-trail-log).
  const elsewhere = [
    'audit_trail_log.fork',
    'audit_trail_log.rotate_key',
    'audit_trail_log.start',
    'organization.destroy',
    'policy_evaluation.errored',
    'policy_evaluation.failed',
    'policy_evaluation.passed',
    'run.lose_executor',
    'run.permanently_delete_backing_data',
    'task_result.callback',
    'task_stage.override',
    'workspace.expire_lock',
    'workspace.remind_auto_destroy',
    'sign_in_methods.create_link',
    ...SIGNED_LINK_ACTIONS,
  ];

  it('the actions cover every row of the catalogue except the deletion of an organization and uploads by signed links', () => {
    expect(Object.keys(actions).toSorted()).toEqual([...ours].filter((row) => !elsewhere.includes(row)).toSorted());
  });

  it.each(Object.entries(actions))(
    '%s is recorded once, with the caller, the request and the metadata',
    async (row, perform) => {
      const [type = '', action = ''] = row.split('.');
      await inBoth(async (world) => {
        const done = await perform(world);
        const filter = { 'filter[resource-type]': type, 'filter[action]': action };
        const entries = await entriesOf(done.auditor ?? world.auditor, done.answer, filter);
        expect(entries).toEqual([expected(world, row, done)]);
      });
    },
  );

  it('organization.destroy is the last entry of a deleted organization', async () => {
    const { id, name } = await makeOrganization(server, 'ending');
    const auditor = server.as(await makeOrganizationToken(server, name));
    await readTrail(auditor);
    expectStatus(await server.delete(`/api/v2/organizations/${name}`), 204);
    await waitForFollowers(server.store, 'audit_trail');
    const last = (await listStoredEntries(server.database, sql`e.organization = ${id}`)).at(-1);
    expect(last?.resource).toEqual({ id, type: 'organization', action: 'destroy', meta: { name } });
  });
});

describe('the audit trail of the site', () => {
  const entriesAtSite = async (query: string): Promise<readonly TrailEntry[]> =>
    expectStatus(await server.get(`/api/v2/admin/audit-trail?page[size]=1000&${query}`), 200).body.data;

  it('the actions cover every row of the catalogue that only this trail has', () => {
    const rows = auditedEvents.filter(({ trails }) => trails === 'site').map(({ type, action }) => `${type}.${action}`);
    expect(Object.keys(SITE_ACTIONS).toSorted()).toEqual([...new Set(rows)].toSorted());
  });

  it.each(Object.entries(SITE_ACTIONS))('%s is recorded once, and in no other trail', async (row, perform) => {
    const [type = '', action = ''] = row.split('.');
    const { answer, id, meta } = await perform(worlds[0]);
    const entries = (await entriesAtSite(`filter[resource-type]=${type}&filter[action]=${action}`)).filter(
      ({ request }) => request.id === requestOf(answer),
    );
    expect(entries.map(({ resource: about }) => about)).toEqual([{ id, type, action, meta }]);
    const stored = await listStoredEntries(server.database, sql`e.id = ${entries[0]?.id ?? ''}::uuid`);
    expect(stored.map(({ auth }) => auth.organization_id)).toEqual(['site']);
  });

  it('records every event without an organization, and no other except those about organizations as a whole and their IP allowlists', async () => {
    await waitForFollowers(server.store, 'audit_trail');
    const missing = await server.database.rows<{ type: string }>(sql`
      select distinct v.type from event_store.events v
       where v.organization is null
         and not exists (select from audit_trail_entries e where e.id = v.id and e.organization = 'site')`);
    const added = await server.database.rows<{ type: string }>(sql`
      select distinct v.type from event_store.events v
        join audit_trail_entries e on e.id = v.id and e.organization = 'site'
       where v.organization is not null order by v.type`);
    expect(missing).toEqual([]);
    expect(added.map((one) => one.type)).toEqual([
      'IpAllowlistCreated',
      'IpAllowlistDeleted',
      'IpAllowlistUpdated',
      'OrganizationCreated',
      'OrganizationDeleted',
    ]);
  });
});

describe('the live stream', () => {
  const BEFORE_FIRST = '00000000-0000-0000-0000-000000000000';
  const { types: sentTypes } = listSentEvents(eventRegistry);

  it('has had a message about each of these changes for a caller that may read everything, in the order of the log', async () => {
    for (const { id, name } of worlds) {
      const reader = await StreamReader.open(server, name, server.adminToken, { lastEventId: BEFORE_FIRST });
      await reader.until(await mark(server, name));
      const events = await server.database.rows<{ id: string; type: string }>(sql`
        select e.id, e.type from event_store.events e
         where e.organization = ${id} and e.type = any (${sentTypes}::text[]) order by e.transaction, e.position`);
      expect(reader.messages.map(({ data }) => ({ id: data.id, type: data.type }))).toEqual(events);
      for (const { data } of reader.messages) expect(data.resource.id).toMatch(/^[a-z]+-[\w-]+$/);
      reader.close();
    }
  });
});

describe('recorded reads', () => {
  let world: CatalogueWorld;
  let showcase: Awaited<ReturnType<typeof makeShowcase>>;

  beforeAll(async () => {
    [world] = worlds;
    showcase = await makeShowcase(world);
  });

  const entriesOfGet = async (path: string, status = 200, api: ApiTestClient = world.owner): Promise<unknown[]> =>
    resourcesOf(world.auditor, expectStatus(await api.get(`/api/v2/${path}`), status));

  const state = (what: string) => [
    'state_version',
    'show',
    showcase.version,
    { workspace_id: showcase.workspace, shown: what },
  ];
  const configuration = () => [
    'configuration_version',
    'show',
    showcase.configuration,
    { workspace_id: showcase.workspace },
  ];
  const variables = (owner: string, count: number) => ['var', 'index', owner, { owner_id: owner, count }];

  it.each([
    ['a state version', () => `state-versions/${showcase.version}`, 'document'],
    ['a state version with outputs', () => `state-versions/${showcase.version}?include=outputs`, 'outputs'],
    ['the current state version', () => `workspaces/${showcase.workspace}/current-state-version`, 'document'],
    ['a state file', () => `state-versions/${showcase.version}/download`, 'state'],
    ['the outputs of a state version', () => `state-versions/${showcase.version}/outputs`, 'outputs'],
    ['the current outputs', () => `workspaces/${showcase.workspace}/current-state-version-outputs`, 'outputs'],
    ['an output', () => `state-version-outputs/${showcase.output}`, 'outputs'],
    ['the managed resources', () => `workspaces/${showcase.workspace}/resources`, 'resources'],
    ['a workspace with its state', () => `workspaces/${showcase.workspace}?include=current_state_version`, 'document'],
    ['a workspace with its outputs', () => `workspaces/${showcase.workspace}?include=outputs`, 'outputs'],
  ])('a read of %s records which part of the state was returned', async (_, path, what) => {
    expect(await entriesOfGet(path())).toEqual([state(what)]);
  });

  it.each([
    ['a configuration version', () => `configuration-versions/${showcase.configuration}`],
    ['the configuration version of a run', () => `runs/${showcase.run}/configuration-version`],
    ['a run with its configuration version', () => `runs/${showcase.run}?include=configuration_version`],
    [
      'a workspace with the configuration version of its run',
      () => `workspaces/${showcase.workspace}?include=current_run.configuration_version`,
    ],
  ])('a read of %s records which configuration version was returned', async (_, path) => {
    expect(await entriesOfGet(path())).toEqual([configuration()]);
  });

  it('a download of an archive is recorded for the caller that requests the link and for the client that follows it', async () => {
    const link = expectStatus(
      await world.owner.get(`/api/v2/runs/${showcase.run}/configuration-version/download`),
      302,
    );
    const meta = { workspace_id: showcase.workspace, link_of: world.owner.id };
    const row = ['configuration_version', 'download', showcase.configuration];
    expect(await resourcesOf(world.auditor, link)).toEqual([[...row, { ...meta, shown: 'link' }]]);
    const path = pathOf(link.headers.get('location') ?? '');
    const content = expectStatus(await world.server.as(null).get(path), 200);
    expect(await resourcesOf(world.auditor, content)).toEqual([[...row, { ...meta, shown: 'archive' }]]);
    const [entry] = await entriesOf(world.auditor, content);
    expect(entry?.auth).toMatchObject({ accessor_id: 'system', description: 'signed link', type: 'System' });
    expect(entry?.request).toMatchObject({ address: '127.0.0.1' });
  });

  it('a list is recorded with its owner and the number of items on the page', async () => {
    const { set, workspace } = showcase;
    expect(await entriesOfGet(`workspaces/${workspace}/vars`)).toEqual([variables(workspace, 0)]);
    expect(await entriesOfGet(`varsets/${set}/relationships/vars`)).toEqual([variables(set, 1)]);
    expect(await entriesOfGet(`varsets/${set}?include=vars`)).toEqual([variables(set, 1)]);
    const states = ['state_version', 'index', workspace, { workspace_id: workspace, count: 1 }];
    expect(await entriesOfGet(`workspaces/${workspace}/state-versions?page[size]=1`)).toEqual([states]);
    const core = ['user', 'index', world.team, { team_id: world.team, count: 0 }];
    expect(await entriesOfGet(`teams/${world.team}/relationships/organization-memberships`)).toEqual([core]);
  });

  it('a list of effective variables is recorded, including the variables of sets', async () => {
    const [[type, action, id, meta]] = (await entriesOfGet(`workspaces/${showcase.workspace}/all-vars`)) as [
      [string, string, string, { count: number }],
    ];
    expect([type, action, id]).toEqual(['var', 'index', showcase.workspace]);
    expect(meta.count).toBeGreaterThan(0);
  });

  it('a list of teams with their users is recorded for each team', async () => {
    const listed = [world.ownersTeam, world.team].map((team) => expect.arrayContaining(['user', 'index', team]));
    const entries = await entriesOfGet('organizations/acme/teams?include=users&page[size]=100');
    expect(entries).toEqual(expect.arrayContaining(listed));
  });

  it('a read of a workspace, run or set is not recorded, nor a read that returns 404', async () => {
    const { workspace, run, set } = showcase;
    const stranger = worlds[1].owner;
    for (const path of [
      `workspaces/${workspace}`,
      `runs/${run}`,
      `varsets/${set}`,
      `workspaces/${workspace}/history`,
    ]) {
      expect(await entriesOfGet(path)).toEqual([]);
    }
    for (const path of [
      `state-versions/${showcase.version}`,
      `workspaces/${workspace}/vars`,
      'organizations/acme/ssh-keys',
    ]) {
      expect(await entriesOfGet(path, 404, stranger)).toEqual([]);
    }
    expect(await entriesOfGet(`workspaces/${world.workspace}/current-state-version`, 404)).toEqual([]);
    expect(await entriesOfGet(`state-versions/${showcase.version}/json-download`, 404)).toEqual([]);
  });

  it('a read with the token of a run is recorded with the run as caller', async () => {
    const token = await makeToken(world.agents, `/api/v2/runs/${showcase.run}/authentication-tokens`);
    const path = `/api/v2/workspaces/${showcase.workspace}/current-state-version`;
    const answer = expectStatus(await world.server.as(token).get(path), 200);
    expect((await entriesOf(world.auditor, answer)).map(({ auth }) => auth.accessor_id)).toEqual([showcase.run]);
  });

  it('a read raises the version of no stream except the stream of reads', async () => {
    const versions = async () =>
      server.database.rows(
        sql`select stream, version from event_store.streams where stream not like 'reads/%' order by stream`,
      );
    const before = await versions();
    await entriesOfGet(`state-versions/${showcase.version}`);
    await entriesOfGet(`workspaces/${showcase.workspace}/vars`);
    expect(await versions()).toEqual(before);
  });

  it('each of many concurrent reads is recorded once', async () => {
    const path = `/api/v2/state-versions/${showcase.version}`;
    const readers = [world.owner, world.server, ...Array.from({ length: 4 }, () => world.owner)];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => (readers[n % 6] as ApiTestClient).get(path)),
    );
    const requests = answers.map((answer) => requestOf(expectStatus(answer, 200)));
    const { data } = await readTrail(world.auditor, { 'page[size]': '1000' });
    const recorded = data.flatMap(({ request }) => (requests.includes(request.id) ? [request.id] : []));
    expect(recorded.toSorted()).toEqual(requests.toSorted());
  });

  it('a read of any part of a state is refused with 503 while it cannot be recorded', async () => {
    const refuse = sql`
      create function views.refuse_reads() returns trigger language plpgsql as $$
      begin
        raise exception 'no more reads';
      end $$`;
    const whenRead = sql`
      create trigger refuse_reads before insert on event_store.events
        for each row when (new.stream like 'reads/%') execute function views.refuse_reads()`;
    await server.database.transaction([refuse, whenRead]);
    try {
      for (const path of ['', '/download', '?include=outputs'].map(
        (rest) => `state-versions/${showcase.version}${rest}`,
      )) {
        const answer = expectStatus(await world.owner.get(`/api/v2/${path}`), 503);
        expect(answer.headers.get('retry-after')).toBe('5');
        expect(answer.text).not.toContain('lineage');
        expect(answer.body.errors[0].detail).toMatch(/could not be recorded/);
      }
      expectStatus(await world.owner.get(`/api/v2/workspaces/${showcase.workspace}`), 200);
    } finally {
      await server.database.rows(sql`drop function views.refuse_reads cascade`);
    }
    expect(await entriesOfGet(`state-versions/${showcase.version}/download`)).toEqual([state('state')]);
  });

  it('a read stays out of the trail if the organization had no trail at the time of the read', async () => {
    const { name, id } = await makeOrganization(server, 'free');
    const subscription = `/api/v2/admin/organizations/${name}/subscription`;
    const subscribe = async (set: string): Promise<void> => {
      const to = { 'feature-set': { data: { type: 'feature-sets', id: set } } };
      expectStatus(await server.post(subscription, resource('subscriptions', {}, to)), 200);
    };
    await subscribe('fs-free');
    expectStatus(await server.get(`/api/v2/organizations/${name}/ssh-keys`), 200);
    const logged = await server.database.rows(
      sql`select 1 from event_store.events where type = 'SshKeysListed' and organization = ${id}`,
    );
    expect(logged).toHaveLength(1);
    await subscribe('fs-everything');
    const auditor = server.as(await makeOrganizationToken(server, name));
    const { data } = await readTrail(auditor, { 'filter[resource-type]': 'ssh_key' });
    expect(data).toEqual([]);
  });

  it('a read is not recorded in the self-hosted edition, which has no trail', async () => {
    const selfHosted = await startTestServer({ env: { CADASTRE_EDITION: 'self-hosted' } });
    await makeOrganization(selfHosted, 'acme');
    expectStatus(await selfHosted.get('/api/v2/organizations/acme/ssh-keys'), 200);
    const reads = await selfHosted.database.rows(sql`select 1 from event_store.events where stream like 'reads/%'`);
    await selfHosted.close();
    expect(reads).toEqual([]);
  });

  it('the trail contains no values, and the log contains only the values of non-sensitive variables, in the events that set them', async () => {
    const value = (of: string): string => `the-${of}-that-nobody-else-has`;
    const workspace = await makeWorkspace(world.owner, world.name, world.unique('workspace'));
    const post = async (path: string, body: object, status = 201): Promise<string> =>
      expectStatus(await world.owner.post(`/api/v2/${path}`, body), status).body.data.id;
    const variable = { category: 'env', key: 'open', value: value('variable') };
    const open = await post(`workspaces/${workspace}/vars`, resource('vars', variable));
    const hidden = { ...variable, key: 'hidden', value: value('secret'), sensitive: true };
    await post(`workspaces/${workspace}/vars`, resource('vars', hidden));
    const changed = resource('vars', { value: value('variable-changed') });
    expectStatus(await world.owner.patch(`/api/v2/workspaces/${workspace}/vars/${open}`, changed), 200);
    const key = await post(
      `organizations/${world.name}/ssh-keys`,
      resource('ssh-keys', { name: world.unique('key'), value: value('private-key') }),
    );
    await post(`workspaces/${workspace}/actions/lock`, { reason: 'why' }, 200);
    const state = stateFile({ outputs: { out: { value: value('output'), type: 'string' } } });
    const version = await post(`workspaces/${workspace}/state-versions`, newStateVersion(state, { inline: true }));
    await post(`workspaces/${workspace}/actions/unlock`, {}, 200);

    const paths = ['vars', 'all-vars', 'current-state-version?include=outputs', 'current-state-version-outputs']
      .map((rest) => `workspaces/${workspace}/${rest}`)
      .concat(`ssh-keys/${key}`, `state-versions/${version}/download`, `workspaces/${workspace}/vars/${open}`);
    const texts = [];
    for (const path of paths) {
      const answer = expectStatus(await world.owner.get(`/api/v2/${path}`), 200);
      expect(await entriesOf(world.auditor, answer)).toHaveLength(1);
      texts.push(answer.text);
    }
    for (const each of ['variable-changed', 'output']) expect(texts.join()).toContain(value(each));

    const entries = await server.database.rows<{ text: string }>(
      sql`select to_jsonb(e)::text as text from audit_trail_entries e`,
    );
    const events = await server.database.rows<{ type: string; text: string }>(
      sql`select e.type, e.data::text || (${EVENT_CONTEXT})::text as text
            from event_store.events e order by e.transaction, e.position`,
    );
    const words = /the-[a-z-]+-that-nobody-else-has/g;
    expect(entries.flatMap(({ text }) => text.match(words) ?? [])).toEqual([]);
    expect(events.flatMap(({ type, text }) => (text.match(words) ?? []).map((word) => [type, word]))).toEqual([
      ['VariableCreated', value('variable')],
      ['VariableUpdated', value('variable-changed')],
    ]);
  });
});

describe('exports in OCSF', () => {
  it('are valid by the schema of the standard, for every entry of these trails', async () => {
    await waitForFollowers(server.store, 'audit_trail');
    const paths = [...worlds.map(({ name }) => `organizations/${name}/audit-trail`), 'admin/audit-trail'];
    for (const path of paths) {
      const headers = { authorization: `Bearer ${server.adminToken}` };
      const lines = await (await fetch(`${server.url}/api/v2/${path}?format=ocsf`, { headers })).text();
      const events = lines.split('\n').slice(0, -1);
      const errors = await validateOcsf(lines);
      expect(events.filter((_, n) => errors[n]?.length !== 0).map((event, n) => [event, errors[n]])).toEqual([]);
      expect(events.length).toBeGreaterThan(50);
    }
  });
});

describe('the trails of two organizations', () => {
  it('contain nothing of the other organization, whichever token reads them', async () => {
    const trails = await Promise.all(
      worlds.map(async ({ name }) => {
        const path = `/api/v2/organizations/${name}/authentication-token`;
        const [all, later] = [
          await readLines(server, await makeToken(server, `${path}?token=audit-trails`)),
          await readLines(server, await makeToken(server, path)),
        ];
        // The creation of the second token adds an entry.
        expect(later.slice(0, all.length)).toEqual(all);
        return all;
      }),
    );
    for (const [n, trail] of trails.entries()) {
      const world = worlds[n] as CatalogueWorld;
      const foreignIds = new Set(
        (trails[1 - n] ?? []).flatMap((entry) => [entry.id, entry.resource.id, entry.request.id]),
      );
      expect(trail.length).toBeGreaterThan(Object.keys(AUDITED_ACTIONS).length);
      expect([...new Set(trail.map(({ auth }) => auth.organization_id))]).toEqual([world.id]);
      const words = new Set(JSON.stringify(trail).match(/[\w-]+/g));
      // The ids of callers are not compared: the administrator of the site acts in both organizations.
      expect([...foreignIds].filter((id) => id !== null && words.has(id))).toEqual([]);
    }
  });
});
