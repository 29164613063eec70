import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createArchive, openArchive, ORGANIZATION_EXPORT, type BackupControl } from '#operations/backup';
import { createLogStartsJob } from '#activity/audit-trail';
import { createTrailCheckpointJob } from '#activity/audit-trail-log';
import { RandomIds } from '#platform/host';
import { FolderBlobs, type BlobStore } from '#storage/blob-store';
import { Envelope } from '#platform/encryption';
import { FollowerRunner, listViews, type EncryptedColumn } from '#storage/event-store';
import { sql, type RecordedEvent } from '#platform/kernel';
import { createPublisherFollower, type KafkaPublisher } from '#storage/message-log';
import { createCommitsJobs } from '#runs/commits';
import {
  checkOrganizationExport,
  exportOrganization,
  importOrganization,
  readOrganizationManifest,
  type ImportedOrganization,
  type UserMapping,
} from '#operations/organization-moves';
import { Vault } from '#storage/vault';
import { countAllKeyUses } from '../../apps/cadastre/src/key-uses.js';
import { ENCRYPTED_FILES, moduleDefinitions } from '../../apps/modules.js';
import { readLines } from '../../libs/activity/audit-trail/spec.js';
import { listFiles, readContent } from '../../libs/storage/blob-store/spec.js';
import { makeNotificationConfiguration } from '../support/notification-receiver.js';
import { makeOauthClient, openTestGitHost } from '../support/git-host.js';
import { startIdentityProvider } from '../support/identity-provider.js';
import { repeatInterrupted } from '../support/interruptions.js';
import { logLength, readWholeLog, waitForFollowers } from '../support/event-log.js';
import { addKey, LINUX, makeProvider, publishVersion, zipOf } from '../support/registry.js';
import { makeSigner } from '../support/releases.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeOrganizationToken,
  makeProject,
  makeReservedTagKey,
  makeRun,
  makeTeam,
  makeToken,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import { runJobOnce, runJobs } from '../support/scheduled-jobs.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';
import { TOPIC_SETTINGS } from '../support/kafka/index.js';
import { quiet } from '../support/silent-logger.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';
import { exchangeToken, makeWorkloadIdentity, WORKLOAD_SUBJECT } from '../support/workload-identities.js';

const KEY = randomBytes(32);
const ADMINS: readonly UserMapping[] = [{ from: 'admin', to: 'admin' }];
const state = stateFile();

let root: string;
let source: TestServer;
let target: TestServer;
let acme: SeededOrganization;
let ada: SeededMember;
let team: string;
let workspace: string;
let stateVersion: string;
let configurationVersion: string;
let sensitive: string;
let oauthToken: string;
let doomed: { readonly project: string; readonly workspace: string };
let trailToken: string;
let exported: BlobStore;

const fillWorkspace = async (): Promise<void> => {
  const variable = { key: 'password', value: 'hunter2', category: 'env', sensitive: true };
  const path = `/api/v2/workspaces/${workspace}`;
  sensitive = expectStatus(await source.post(`${path}/vars`, resource('vars', variable)), 201).body.data.id;
  expectStatus(
    await source.post(`${path}/vars`, resource('vars', { ...variable, key: 'region', sensitive: false })),
    201,
  );
  expectStatus(await ada.post(`${path}/actions/lock`, { reason: 'moving' }), 200);
  const created = await ada.post(`${path}/state-versions`, newStateVersion(state, { inline: true }));
  stateVersion = expectStatus(created, 201).body.data.id;
  await bindTags(source, `workspaces/${workspace}`, { env: 'prod', owner: 'platform' });
};

/** Stores output of a plan, as its executor sends it. */
const addLogChunk = async (run: string, owner: string): Promise<void> => {
  const phase = run.replace('run-', 'plan-');
  const { purpose } = requireEncryptedColumn('runs.log_chunks');
  const content = new Envelope(source.runtime.encryptionKeys, purpose).encrypt(`${phase}/0`, Buffer.from('output'));
  await source.database.rows(sql`
    insert into runs.log_chunks
      (id, phase, start, length, number, is_json, ends_line, is_cut, run, workspace, organization, content)
    values (${`${phase}/0`}, ${phase}, 0, 6, 0, false, false, false, ${run}, ${owner}, ${acme.id}, ${content})`);
};

/** Lets a pipeline get a token of the team. */
const fillPipelines = async (): Promise<void> => {
  const provider = await startIdentityProvider();
  const identity = await makeWorkloadIdentity(source, team, 'main', { issuer: provider.issuer });
  const aud = source.runtime.settings.publicUrl;
  const token = await provider.signToken({ aud, sub: WORKLOAD_SUBJECT });
  expectStatus(await exchangeToken(source, identity, token), 200);
  await provider.close();
};

const ENCRYPTED_COLUMNS = moduleDefinitions.flatMap(({ encryptedColumns = [] }) => encryptedColumns);

const requireEncryptedColumn = (table: string): EncryptedColumn => {
  const column = ENCRYPTED_COLUMNS.find((one) => one.table === table);
  if (!column) throw new Error(`no encrypted column of ${table}`);
  return column;
};

/** Returns the readable values of the organization in these tables, by their ids. */
const readEncrypted = async (
  { database, runtime }: TestServer,
  table: string,
): Promise<readonly (readonly [string, unknown])[]> => {
  const { id, column, purpose } = requireEncryptedColumn(table);
  const envelope = new Envelope(runtime.encryptionKeys, purpose);
  const rows = await database.rows<{ readonly id: string; readonly value: Buffer }>(sql`
    select ${sql.raw(id)} as id, ${sql.raw(column)} as value from ${sql.raw(table)}
     where organization = ${acme.id} order by 1`);
  return rows.map((row) => [row.id, envelope.open(row.id, row.value)] as const);
};

/** Connects a Git host with an SSH key, and follows a repository, of which the server creates a webhook. */
const fillConnection = async (): Promise<void> => {
  ({ token: oauthToken } = await makeOauthClient(source, 'acme', await openTestGitHost()));
  const key = resource('oauth-tokens', { 'ssh-key': SSH_KEY.value });
  expectStatus(await source.patch(`/api/v2/oauth-tokens/${oauthToken}`, key), 200);
  await makeWorkspace(source, 'acme', 'followed', {
    'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': oauthToken },
  });
  const options = { ...source.runtime, ...source.runtime.settings, store: source.store };
  await runJobs(createCommitsJobs({ ...options, publicUrl: 'https://old.example' }), 'repository_commits');
};

const listWebhooks = async ({ database }: TestServer): Promise<readonly string[]> =>
  (await database.rows<{ id: string }>(sql`select id from commits.webhooks order by id`)).map(({ id }) => id);

/** Returns the document as it is after an import, which removes what acts by itself, and so changes workspaces. */
const withoutAutomation = (body: object): object =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      /^(?:auto-destroy-|assessments-|updated-at$)/.test(name) ? null : value,
    ),
  ) as object;

/** Makes a project and a workspace whose resources are destroyed automatically. */
const fillDoomed = async (): Promise<void> => {
  const project = await makeProject(source, 'acme', 'doomed');
  const duration = resource('projects', { 'auto-destroy-activity-duration': '14d' });
  expectStatus(await source.patch(`/api/v2/projects/${project}`, duration), 200);
  const attributes = { 'auto-destroy-at': '2030-01-31T18:00:00Z', 'assessments-enabled': true };
  const inProject = { project: { data: { type: 'projects', id: project } } };
  doomed = { project, workspace: await makeWorkspace(source, 'acme', 'doomed', attributes, inProject) };
};

const fillOrganization = async (): Promise<void> => {
  const enforced = resource('organizations', { 'assessments-enforced': true });
  expectStatus(await source.patch('/api/v2/organizations/acme', enforced), 200);
  await fillDoomed();
  const project = await makeProject(source, 'acme', 'network');
  team = await makeTeam(source, 'acme', 'builders');
  ada = await makeMember(source, 'acme', 'ada', [acme.ownersTeam]);
  const leaver = await makeMember(source, 'acme', 'zerlinda', [acme.ownersTeam]);
  workspace = await makeWorkspace(leaver, 'acme', 'app', {}, { project: { data: { type: 'projects', id: project } } });
  await grantWorkspaceAccess(source, team, workspace, 'write');
  await fillWorkspace();
  await makeReservedTagKey(source, 'acme', 'env');
  await makeToken(source, `/api/v2/teams/${team}/authentication-token`);
  await fillPipelines();
  const other = await makeWorkspace(source, 'acme', 'other');
  configurationVersion = await makeConfigurationVersion(source, other);
  const run = await makeRun(source, other, { message: 'first' });
  await addLogChunk(run, other);
  const signer = await makeSigner();
  expectStatus(await addKey(source, 'acme', signer), 201);
  await makeProvider(source, 'acme', 'cloud');
  await publishVersion(source, 'acme', 'cloud', '1.0.0', signer);
  expectStatus(await source.post(`/api/v2/organizations/acme/ssh-keys`, resource('ssh-keys', SSH_KEY)), 201);
  await fillConnection();
  await makeNotificationConfiguration(source, `workspaces/${workspace}`, 'ops', {
    token: 'a key',
    triggers: ['run:errored'],
  });
  expectStatus(await source.delete(`/api/v2/admin/users/${leaver.id}`), 204);
  expectStatus(await source.post('/api/v2/organizations/acme/cidr-range-lists', ADDRESSES), 201);
  const invitation = resource('organization-memberships', { email: INVITED });
  expectStatus(await source.post('/api/v2/organizations/acme/organization-memberships', invitation), 201);
};

const INVITED = 'vic@corp.test';

/** Contains the address of the tests. */
const ADDRESSES = resource(
  'cidr-range-lists',
  { name: 'Offices', 'enforcement-scope': 'organization' },
  {
    'cidr-ranges': {
      data: ['127.0.0.0/8', '203.0.113.0/24'].map((range) => ({ type: 'cidr-ranges', attributes: { range } })),
    },
  },
);

const SSH_KEY = {
  name: 'git',
  value: '-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n',
};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cadastre-moves-'));
  source = await startTestServer({ followers: true, env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: 'localhost,127.0.0.1' } });
  const env = { CADASTRE_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') };
  target = await startTestServer({ followers: true, env });
  // The organization had a name that another organization of the target has.
  acme = await makeOrganization(source, 'resident');
  expectStatus(await source.patch('/api/v2/organizations/resident', resource('organizations', { name: 'acme' })), 200);
  trailToken = await makeOrganizationToken(source, 'acme');
  await fillOrganization();
  await makeOrganization(source, 'neighbour');
  await makeWorkspace(source, 'neighbour', 'app');
  await makeOrganization(target, 'resident');
  await makeWorkspace(target, 'resident', 'app');
  exported = await newFolder();
  await waitForFollowers(source.store, 'audit_trail');
  await runJobOnce(createTrailCheckpointJob(source.runtime, source.runtime.settings));
  await exportTo(exported);
});

afterAll(async () => {
  await source?.close();
  await target?.close();
  await rm(root, { recursive: true, force: true });
});

const newFolder = async (): Promise<BlobStore> =>
  new FolderBlobs(await mkdtemp(join(root, 'export-')), source.runtime.clock);

const toSite = ({ runtime }: TestServer) => ({
  store: runtime.store,
  blobs: runtime.blobs,
  encryptionKeys: runtime.encryptionKeys,
  clock: runtime.clock,
  ids: runtime.ids,
  encryptedFiles: ENCRYPTED_FILES,
  definitions: moduleDefinitions,
});

const exportTo = async (folder: BlobStore, name = 'acme', control: BackupControl = {}) => {
  const site = { ...toSite(source), publicUrl: 'https://old.example', version: '1.2.3', eventsInPart: 10 };
  return exportOrganization(site, name, await createArchive(folder, KEY, ORGANIZATION_EXPORT), control);
};

const openExport = async (folder: BlobStore) => {
  const opened = await openArchive(folder, KEY, ORGANIZATION_EXPORT);
  const manifest = await readOrganizationManifest(opened);
  if (!manifest) throw new Error('the export is unfinished');
  return { archive: opened, manifest };
};

const importFrom = async (
  folder: BlobStore,
  mappings: readonly UserMapping[] = ADMINS,
  control: BackupControl = {},
): Promise<ImportedOrganization> =>
  importOrganization(toSite(target), await openExport(folder), { mappings, approve: () => Promise.resolve() }, control);

const findUser = async ({ database }: TestServer, username: string): Promise<string> =>
  (await database.row<{ id: string }>(sql`select id from users where username = ${username}`))?.id ?? 'none';

/**
 * Sorts lists of ids, because the ids of the administrators differ. Removes when members were last active, because each site
 * records the reads of these tests.
 */
const toComparable = (key: string, value: unknown): unknown => {
  if (key === 'last-active-at' || key === 'last_active_at') return undefined;
  return Array.isArray(value) && value.every((one) => Object.keys(Object(one)).toSorted().join() === 'id,type')
    ? value.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))
    : value;
};

/** Returns a function that replaces what differs between the sites: the administrators, and links with their signatures. */
const createComparison = async (): Promise<(value: unknown) => unknown> => {
  const [from, to] = [await findUser(source, 'admin'), await findUser(target, 'admin')];
  return (value) =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(from, to)
        // Links have a path. Issuers of tokens have none.
        .replaceAll(/"https?:\/\/[^"/]*\/[^"]*"/g, '"link"'),
      toComparable,
    ) as unknown;
};

const listRows = async ({ database }: TestServer, table: string): Promise<readonly string[]> =>
  (await database.rows<{ row: unknown }>(sql.raw(`select to_jsonb(t) as row from views.${table} t`))).map(({ row }) =>
    JSON.stringify(row),
  );

describe('an export', () => {
  it('is readable only with its key', async () => {
    const folder = await mkdtemp(join(root, 'export-'));
    await exportTo(new FolderBlobs(folder, source.runtime.clock));
    const files = await listFiles(folder);
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) expect(/hunter2|acme|workspace/.exec(await readFile(file, 'latin1'))).toBeNull();
    await expect(
      openArchive(new FolderBlobs(folder, source.runtime.clock), randomBytes(32), ORGANIZATION_EXPORT),
    ).rejects.toThrow(/^this is not the key of the export; /);
  });

  it('contains the events of the organization and no others', async () => {
    const { manifest } = await openExport(exported);
    const log = await readWholeLog(source.store);
    expect(manifest.snapshot.events).toBe(log.filter(({ organization }) => organization === acme.id).length);
    expect(manifest.people.accounts.map(({ username }) => username).toSorted()).toEqual(['ada', 'admin', 'vic']);
    expect(manifest.people.forgotten).toHaveLength(1);
  });

  it('continues when it is run again after an interruption, and a check reads all of it', async () => {
    const folder = await newFolder();
    const manifest = await repeatInterrupted((control) => exportTo(folder, 'acme', control), 4);
    const phases = new Set<string>();
    await checkOrganizationExport((await openExport(folder)).archive, manifest, moduleDefinitions, {
      report: (phase) => void phases.add(phase),
    });
    expect([...phases]).toEqual(['parts checked', 'files checked', 'events checked']);
  });

  it('is refused for an unknown organization, and for a destination with another export', async () => {
    await expect(exportTo(await newFolder(), 'nobody')).rejects.toThrow('there is no organization named nobody');
    await expect(exportTo(exported)).rejects.toThrow(/^the destination contains a finished export; /);
    const folder = await newFolder();
    const stopping = new AbortController();
    const report = (phase: string): void => (phase === 'events' ? stopping.abort(new Error('stopped')) : undefined);
    await expect(exportTo(folder, 'acme', { signal: stopping.signal, report })).rejects.toThrow('stopped');
    await expect(exportTo(folder, 'neighbour')).rejects.toThrow(
      /^the destination contains an unfinished export of another organization or site; /,
    );
  });
});

describe('an import', () => {
  const expectUnchanged = async (work: () => Promise<unknown>): Promise<void> => {
    const length = await logLength(target.store);
    await work();
    expect(await logLength(target.store)).toBe(length);
    expectStatus(await target.get('/api/v2/organizations/acme'), 404);
  };

  it('is refused if a user has the name of another user of the site, and nothing changes', async () => {
    await expectUnchanged(() =>
      expect(importFrom(exported, [])).rejects.toThrow(
        /Nothing was changed:\n {2}admin \(user-.*--map-user admin=admin; /,
      ),
    );
  });

  it('is refused if an organization has the name in another case, and nothing changes', async () => {
    const { id } = await makeOrganization(target, 'ACME');
    await expect(importFrom(exported)).rejects.toThrow(
      `this site already has an organization named ACME (${id}); rename one of the two`,
    );
    expectStatus(await target.delete('/api/v2/organizations/ACME'), 204);
  });

  it('is refused if a later version made the export, and nothing changes', async () => {
    const { archive: opened, manifest } = await openExport(exported);
    const migrations = [...manifest.snapshot.migrations, 'vault/999_later'];
    const later = { archive: opened, manifest: { ...manifest, snapshot: { ...manifest.snapshot, migrations } } };
    await expectUnchanged(() =>
      expect(
        importOrganization(toSite(target), later, { mappings: ADMINS, approve: () => Promise.resolve() }),
      ).rejects.toThrow(
        'Cadastre 1.2.3 made this export, and this version lacks its migration vault/999_later; import with ',
      ),
    );
  });

  it('is refused if the site has forgotten a member, and nothing changes', async () => {
    const forgotten = sql`insert into event_store.person_keys (person, key, cleaned_at) values (${ada.id}, null, now())`;
    await target.database.transaction([forgotten]);
    await expectUnchanged(() =>
      expect(importFrom(exported)).rejects.toThrow(
        `members of the organization were forgotten at this site: ${ada.id}; `,
      ),
    );
    await target.database.transaction([sql`delete from event_store.person_keys where person = ${ada.id}`]);
  });

  it('changes nothing if it is interrupted', async () => {
    for (const reports of [1, 5, 12]) {
      await expectUnchanged(async () => {
        const stopping = new AbortController();
        let count = 0;
        const report = (): void => ((count += 1) === reports ? stopping.abort(new Error('stopped')) : undefined);
        await expect(importFrom(exported, ADMINS, { signal: stopping.signal, report })).rejects.toThrow('stopped');
      });
    }
  });
});

describe('an imported organization', () => {
  let compare: (value: unknown) => unknown;
  let imported: ImportedOrganization;
  let before: number;
  let trail: readonly { readonly id: string }[];

  beforeAll(async () => {
    for (const follower of ['audit_trail', 'workspace_history', 'member_activities'])
      await waitForFollowers(source.store, follower);
    trail = await readLines(source, trailToken);
    before = await logLength(target.store);
    imported = await importFrom(exported);
    for (const follower of [
      'audit_trail',
      'workspace_history',
      'member_activities',
      'state_sweeper',
      'release_sweeper',
      'module_sweeper',
      'run_queue',
    ])
      await waitForFollowers(target.store, follower);
    compare = await createComparison();
  });

  const listPaths = (): readonly string[] => [
    '/api/v2/organizations/acme',
    '/api/v2/organizations/acme/projects',
    '/api/v2/organizations/acme/workspaces?include=locked_by,current_state_version',
    '/api/v2/organizations/acme/teams',
    '/api/v2/organizations/acme/organization-memberships?include=user,teams',
    '/api/v2/organizations/acme/reserved-tag-keys',
    '/api/v2/organizations/acme/registry-providers',
    '/api/v2/organizations/acme/ssh-keys',
    '/api/v2/organizations/acme/oauth-clients',
    `/api/v2/oauth-tokens/${oauthToken}`,
    `/api/v2/workspaces/${workspace}`,
    `/api/v2/workspaces/${workspace}/vars`,
    `/api/v2/workspaces/${workspace}/notification-configurations`,
    `/api/v2/workspaces/${workspace}/tag-bindings`,
    `/api/v2/state-versions/${stateVersion}`,
    `/api/v2/configuration-versions/${configurationVersion}`,
    `/api/v2/team-workspaces?filter[workspace][id]=${workspace}`,
    `/api/v2/teams/${team}`,
    `/api/v2/teams/${team}/workload-identities`,
    '/api/v2/organizations/acme/registry-providers/private/acme/cloud/versions/1.0.0',
  ];

  it('has the same audit trail without events of the site, and then the entries of the import', async () => {
    const token = await makeOrganizationToken(target, 'acme');
    const lines = await readLines(target, token);
    // Sessions and tokens of people belong to the site, although the trails of their organizations record them.
    const siteEvents = (await readWholeLog(source.store)).filter((event) => event.organization === null);
    const ofSite = new Set(siteEvents.map(({ id }) => id));
    const movedEntries = trail.filter(({ id }) => !ofSite.has(id));
    // Timestamps of a trail are distinct, so those after an entry of the site can be a millisecond later.
    const withoutTimes = (entries: readonly object[]) => entries.map((entry) => ({ ...entry, timestamp: null }));
    expect(withoutTimes(lines.slice(0, movedEntries.length))).toEqual(compare(withoutTimes(movedEntries)));
    expect(lines.slice(movedEntries.length).map(({ resource: { type, action } }) => `${type} ${action}`)).toEqual([
      ...Array.from({ length: imported.destroyedTokens }, () => 'authentication_token destroy'),
      'cidr_range_list update',
      'cidr_range_list update',
      'project update',
      'workspace update',
      'organization update',
      'organization update',
      'authentication_token create',
    ]);
  });

  it('has the same documents', async () => {
    for (const path of listPaths()) {
      const [there, here] = [await source.get(path), await target.get(path)];
      expect([path, there.status, here.status]).toEqual([path, 200, 200]);
      expect([path, compare(withoutAutomation(here.body))]).toEqual([path, compare(withoutAutomation(there.body))]);
    }
  });

  it('has the same rows in all views, except tokens and accounts', async () => {
    const tables = listViews(moduleDefinitions)
      .filter(({ name }) => name !== 'audit_trail')
      .flatMap((view) => view.tables)
      .filter((table) => !['users', 'authentication_tokens', 'ip_allowlist_ranges'].includes(table));
    expect(tables.length).toBeGreaterThan(20);
    const events = (await readWholeLog(source.store)).filter(({ organization }) => organization === acme.id);
    const ids = [...new Set(events.map(({ stream }) => stream))];
    // An import sets the time from which on notifications are sent, and switches health assessments off.
    const toComparableRow = (row: string): string =>
      JSON.stringify(compare({ ...JSON.parse(row), notifies_from: undefined })).replace(
        '"assessmentsEnforced":true',
        '"assessmentsEnforced":false',
      );
    for (const table of tables) {
      const rows = (await listRows(source, table)).map(toComparableRow);
      const here = new Set((await listRows(target, table)).map(toComparableRow));
      const isMissing = (row: string): boolean => !here.has(row) && ids.some((id) => row.includes(id));
      const missing = rows.filter((row) => isMissing(row) && !Object.values(doomed).some((id) => row.includes(id)));
      expect([table, missing]).toEqual([table, []]);
    }
    await expectViewsMatchLog(target, moduleDefinitions);
  });

  it('has its IP allowlist with all ranges disabled, because people can have other addresses here', async () => {
    const path = '/api/v2/organizations/acme/cidr-range-lists';
    const [list] = expectStatus(await target.get(path), 200).body.data;
    expect(list.attributes).toMatchObject({ name: 'Offices', 'enforcement-scope': 'organization' });
    const ranges = await target.get(`/api/v2/cidr-range-lists/${list.id}/relationships/cidr-ranges`);
    expect(
      expectStatus(ranges, 200).body.data.map(({ attributes: { range, enabled } }: any) => [range, enabled]),
    ).toEqual([
      ['127.0.0.0/8', false],
      ['203.0.113.0/24', false],
    ]);
  });

  it('destroys no resources automatically, because they belong to the original', async () => {
    const read = async (server: TestServer, path: string) =>
      expectStatus(await server.get(path), 200).body.data.attributes;
    const project = `/api/v2/projects/${doomed.project}`;
    expect((await read(source, project))['auto-destroy-activity-duration']).toBe('14d');
    expect((await read(target, project))['auto-destroy-activity-duration']).toBeNull();
    expect(await read(target, `/api/v2/workspaces/${doomed.workspace}`)).toMatchObject({
      'auto-destroy-at': null,
      'auto-destroy-activity-duration': null,
      'inherits-project-auto-destroy': false,
    });
  });

  it('assesses nothing by itself, because the resources belong to the original', async () => {
    const read = async (server: TestServer) => ({
      ...expectStatus(await server.get('/api/v2/organizations/acme'), 200).body.data.attributes,
      ...expectStatus(await server.get(`/api/v2/workspaces/${doomed.workspace}`), 200).body.data.attributes,
    });
    expect(await read(source)).toMatchObject({ 'assessments-enforced': true, 'assessments-enabled': true });
    expect(await read(target)).toMatchObject({ 'assessments-enforced': false, 'assessments-enabled': false });
  });

  it('sends no notifications about events from before the import', async () => {
    const select = sql`select notifies_from as "notifiesFrom" from notification_configurations`;
    const readTime = async ({ database }: TestServer): Promise<number> =>
      Date.parse((await database.row<{ notifiesFrom: string }>(select))?.notifiesFrom ?? '');
    expect(await readTime(target)).toBeGreaterThan(await readTime(source));
  });

  it('has the events with their ids, times, order and readable names', async () => {
    const isOwn = ({ organization }: RecordedEvent): boolean => organization === acme.id;
    const comparable = ({ transaction: _transaction, position: _position, ...event }: RecordedEvent) => event;
    const there = (await readWholeLog(source.store)).filter(isOwn).slice(0, imported.events).map(comparable);
    const log = (await readWholeLog(target.store)).slice(before).filter(isOwn);
    const here = log.slice(0, imported.events).map(comparable);
    expect(compare(here)).toEqual(compare(there));
    // Two ranges of the IP allowlist are disabled, a project and a workspace are no longer destroyed automatically, and nothing is assessed.
    expect(log.at(imported.events + imported.destroyedTokens + 5)).toMatchObject({
      type: 'OrganizationImported',
      data: { source: 'https://old.example', events: imported.events },
    });
    expect(JSON.stringify(await readWholeLog(target.store, { keepEncrypted: true }))).not.toContain('"ada"');
    expect(JSON.stringify(await readWholeLog(target.store))).not.toContain('zerlinda');
  });

  it('has its secrets and files, encrypted with the key of the site', async () => {
    const vault = new Vault(target.database, target.runtime.encryptionKeys);
    expect(await vault.open(sensitive)).toBe('hunter2');
    expect(await vault.open(`${oauthToken}-ssh-key`)).toBe(SSH_KEY.value);
    const webhooks = await listWebhooks(source);
    expect(webhooks).toEqual([expect.any(String)]);
    expect(await listWebhooks(target)).toEqual([]);
    for (const table of ['vault.secrets', 'runs.job_values', 'runs.log_chunks']) {
      const values = await readEncrypted(target, table);
      expect(values).not.toEqual([]);
      const there = await readEncrypted(source, table);
      expect(values).toEqual(there.filter(([id]) => !webhooks.includes(id)));
    }
    const uses = await countAllKeyUses(target.runtime, () => undefined);
    expect(uses.filter(({ missing }) => missing > 0)).toEqual([]);
    const download = await target.get(`/api/v2/state-versions/${stateVersion}/download`);
    expect(download.text).toBe(String(state.bytes));
    const keys = [];
    for await (const { key } of target.runtime.blobs.list('registry')) keys.push(key);
    const contents = await Promise.all(keys.map(async (key) => String(await readContent(target.runtime.blobs, key))));
    expect(contents).toContain(String(zipOf('cloud', '1.0.0', ...LINUX)));
    const platform = `/api/v2/organizations/acme/registry-providers/private/acme/cloud/versions/1.0.0/platforms/linux/amd64`;
    const { links } = expectStatus(await target.get(platform), 200).body.data;
    expectStatus(
      await target
        .as(null)
        .get(
          `${target.url}${pathOf(links['provider-binary-download'])}${new URL(links['provider-binary-download']).search}`,
        ),
      200,
    );
  });

  it('has members without their tokens, and no tokens of teams or the organization', async () => {
    expect(imported.createdUsers).toBe(2);
    expect(imported.destroyedTokens).toBe(3);
    expectStatus(await target.as(ada.token).get('/api/v2/account/details'), 401);
    expect(await findUser(target, 'ada')).toBe(ada.id);
    const member = await makeToken(target, `/api/v2/users/${ada.id}/authentication-tokens`);
    const api: ApiTestClient = target.as(member);
    expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`, {}), 200);
    expectStatus(await api.get('/api/v2/organizations/resident'), 404);
    await expectViewsMatchLog(target, moduleDefinitions);
  });

  it('has invited people whose accounts a verified owner of the address can take over', async () => {
    const accounts = await target.database.rows<{ email: string; onlyInvited: boolean }>(
      sql`select email, only_invited as "onlyInvited" from users where id = ${ada.id} or email = ${INVITED} order by 2`,
    );
    expect(accounts).toEqual([
      { email: expect.any(String), onlyInvited: false },
      { email: INVITED, onlyInvited: true },
    ]);
  });

  it('is published with all its events', async () => {
    const published: RecordedEvent[] = [];
    const recorder = {
      ensureTopics: () => Promise.resolve(),
      publish: (events: readonly RecordedEvent[]) => Promise.resolve(void published.push(...events)),
    };
    const follower = createPublisherFollower(recorder as unknown as KafkaPublisher, [], TOPIC_SETTINGS);
    const runner = new FollowerRunner(target.store, follower, quiet);
    runner.start();
    await waitForFollowers(target.store, 'publisher');
    await runner.stop();
    const own = published.filter(({ organization }) => organization === acme.id);
    const versions = new Map<string, number>();
    for (const { stream, version } of own) {
      expect([stream, version]).toEqual([stream, (versions.get(stream) ?? 0) + 1]);
      versions.set(stream, version);
    }
    expect(own.length).toBeGreaterThan(imported.events);
    expect(published.find(({ type, stream }) => type === 'UserCreated' && stream === ada.id)?.data).toMatchObject({
      username: 'ada',
    });
  });

  it('gets a new log of its audit trail, which begins after the events of the other site', async () => {
    await waitForFollowers(target.store, 'audit_trail');
    const listLeaves = () =>
      target.database.rows<{ index: number; action: string }>(sql`
        select index, action from audit_trail.leaves l join audit_trail_entries e using (id, organization)
         where organization = ${acme.id} order by index`);
    expect(await listLeaves()).toEqual([]);
    const job = createLogStartsJob(target.store, new RandomIds());
    expect(await runJobOnce(job)).toBe(1);
    await waitForFollowers(target.store, 'audit_trail');
    expect(await listLeaves()).toEqual([{ index: 0, action: 'start' }]);
    const former = await source.database.row<{ origin: string; note: string }>(
      sql`select origin, note from audit_trail.signed_checkpoints where organization = ${acme.id}`,
    );
    expect(
      (await readWholeLog(target.store)).findLast(({ type }) => type === 'AuditTrailLogStarted')?.data,
    ).toMatchObject({
      olderEntries: expect.any(Number),
      formerOrigin: former?.origin,
      formerCheckpoint: former?.note,
    });
    expect(await runJobOnce(job)).toBe(0);
    // The target could be a new installation of the source: both have the same address here.
    expect(former?.origin).toBe(`${new URL(target.runtime.settings.publicUrl).host}/${acme.id}`);
    await runJobOnce(createTrailCheckpointJob(target.runtime, target.runtime.settings));
    const present = await target.database.row<{ origin: string }>(
      sql`select origin from audit_trail.signed_checkpoints where organization = ${acme.id}`,
    );
    expect(present?.origin).toBe(`${former?.origin}/2`);
  });

  it('is forgotten with its people: texts of a forgotten member become unreadable', async () => {
    const bob = await makeMember(target, 'acme', 'bob', [acme.ownersTeam]);
    expect(JSON.stringify(await readWholeLog(target.store))).toContain('"ada"');
    expectStatus(await target.delete(`/api/v2/admin/users/${ada.id}`), 204);
    expect(JSON.stringify(await readWholeLog(target.store))).not.toContain('"ada"');
    expect(bob.id).toMatch(/^user-/);
    const token = await makeOrganizationToken(target, 'acme');
    await waitForFollowers(target.store, 'audit_trail');
    expect(JSON.stringify(await readLines(target, token))).not.toMatch(/"ada"|~sealed/);
  });

  it('is refused a second time, also after it was deleted', async () => {
    await expect(importFrom(exported)).rejects.toThrow(/^this export was imported into this site already\. /);
    const again = await newFolder();
    await exportTo(again);
    await expect(importFrom(again)).rejects.toThrow(/^this site already contains the organization acme \(org-/);
    expectStatus(await target.delete('/api/v2/organizations/acme'), 204);
    await expect(importFrom(again)).rejects.toThrow(/^the log of this site already contains the stream /);
  });

  it('leaves the other site as it was', async () => {
    expectStatus(await source.get('/api/v2/organizations/acme'), 200);
    await expectViewsMatchLog(source, moduleDefinitions);
  });
});
