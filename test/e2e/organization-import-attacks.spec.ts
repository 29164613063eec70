import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createArchive, openArchive, ORGANIZATION_EXPORT, type BackupArchive } from '#operations/backup';
import { FolderBlobs, type BlobStore } from '#storage/blob-store';
import type { ImportedEvent } from '#storage/event-store';
import { sql } from '#platform/kernel';
import { ensureUser, forgetUserByName } from '#identity/people';
import {
  checkOrganizationExport,
  exportOrganization,
  importOrganization,
  readOrganizationManifest,
  type ImportPlan,
  type OrganizationManifest,
} from '#operations/organization-moves';
import { ENCRYPTED_FILES, eventRegistry, moduleDefinitions } from '../../apps/modules.js';
import { logLength } from '../support/event-log.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
  type SeededMember,
  type SeededOrganization,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { makeWorkloadIdentity } from '../support/workload-identities.js';

const KEY = randomBytes(32);
const UUID = '0190b3a0-0000-7000-8000-000000000001';
const ISSUER = 'https://issuer.example';
const state = stateFile();

type Event = Record<string, unknown> & Pick<ImportedEvent, 'id' | 'type' | 'stream' | 'version' | 'data' | 'context'>;

/** The content of an export, all of which its author can change. */
type Content = {
  readonly events: Event[];
  readonly rows: { table: string; columns: readonly string[]; rows: Record<string, unknown>[] }[];
  readonly files: { key: string; size: number }[];
  people: OrganizationManifest['people'];
  organization: { id: string; name: string };
};

let root: string;
let source: TestServer;
let target: TestServer;
let acme: SeededOrganization;
let mallory: SeededMember;
let team: string;
/** The id belongs to another organization of the importing site. */
let foreign: { workspace: string; stateVersion: string; variable: string; admin: string; organization: string };
let manifest: OrganizationManifest;
let exported: BackupArchive;
let content: Content;

const addState = async (server: TestServer, workspace: string): Promise<string> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
  const body = newStateVersion(state, { inline: true });
  return expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201).body.data.id;
};

const addSecret = async (server: TestServer, workspace: string): Promise<string> => {
  const variable = { key: 'password', value: 'hunter2', category: 'env', sensitive: true };
  const created = await server.post(`/api/v2/workspaces/${workspace}/vars`, resource('vars', variable));
  return expectStatus(created, 201).body.data.id;
};

const toSite = ({ runtime }: TestServer) => ({
  store: runtime.store,
  blobs: runtime.blobs,
  encryptionKeys: runtime.encryptionKeys,
  clock: runtime.clock,
  ids: runtime.ids,
  encryptedFiles: ENCRYPTED_FILES,
  definitions: moduleDefinitions,
});

const newFolder = async (): Promise<BlobStore> =>
  new FolderBlobs(await mkdtemp(join(root, 'export-')), source.runtime.clock);

const readContent = async (): Promise<Content> => {
  const { snapshot, events, people } = manifest;
  const read: Event[] = [];
  for (const part of events) {
    const [, ...lines] = await exported.readLines(part);
    read.push(...lines.map((line) => JSON.parse(line) as Event));
  }
  const rows: Content['rows'] = [];
  for (const { table, columns, parts } of snapshot.tables) {
    const lines = await Promise.all(parts.map((part) => exported.readLines(part)));
    rows.push({ table, columns, rows: lines.flat().map((line) => JSON.parse(line) as Record<string, unknown>) });
  }
  const files = [];
  for (const part of snapshot.files.parts)
    for (const line of await exported.readLines(part)) files.push(JSON.parse(line) as { key: string; size: number });
  return { events: read, rows, files, people, organization: snapshot.organization };
};

/** Writes an export with other content, and with its checksums, as its author can. */
const writeExport = async ({ events, rows, files, people, organization }: Content): Promise<BackupArchive> => {
  const archive = await createArchive(await newFolder(), KEY, ORGANIZATION_EXPORT);
  const { snapshot } = manifest;
  const head = JSON.stringify({ transaction: '1', position: 1 });
  const part = await archive.putLines('events/000001', [head, ...events.map((event) => JSON.stringify(event))]);
  const tables = [];
  for (const [n, { table, columns, rows: own }] of rows.entries()) {
    if (own.length === 0) continue;
    const lines = own.map((row) => JSON.stringify(row));
    tables.push({ table, columns, parts: [await archive.putLines(`snapshots/x/table-${n}`, lines)] });
  }
  for (const { key } of files)
    await archive.putFile(key, [Buffer.from(state.bytes)] as unknown as AsyncIterable<Uint8Array>);
  const list = await archive.putLines(
    'snapshots/x/files/000001',
    files.map((file) => JSON.stringify(file)),
  );
  await archive.putJson('manifest', {
    ...manifest,
    snapshot: {
      ...snapshot,
      organization,
      events: events.length,
      tables,
      files: { count: files.length, bytes: 0, parts: [list] },
    },
    events: [part],
    people,
  });
  return archive;
};

const importArchive = async (archive: BackupArchive, approve: (plan: ImportPlan) => Promise<void>) => {
  const prepared = await readOrganizationManifest(archive);
  if (!prepared) throw new Error('no manifest');
  const mappings = [{ from: 'admin', to: 'admin' }];
  return importOrganization(toSite(target), { archive, manifest: prepared }, { mappings, approve });
};

const checkArchive = async (archive: BackupArchive): Promise<void> => {
  const prepared = await readOrganizationManifest(archive);
  if (prepared) await checkOrganizationExport(archive, prepared, moduleDefinitions);
};

const approveAll = (): Promise<void> => Promise.resolve();

const sample = (type: string): Event => {
  const event = content.events.find((one) => one.type === type);
  if (!event) throw new Error(`the export has no ${type}`);
  return event;
};

/** Returns an event of the export's organization as a new stream. */
const forge = (type: string, stream: string, data: unknown): Event => ({
  ...sample('WorkspaceCreated'),
  id: UUID,
  type,
  stream,
  version: 1,
  schemaVersion: eventRegistry[type]?.schemaVersion ?? 1,
  data: data as Event['data'],
});

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cadastre-attacks-'));
  source = await startTestServer({ followers: true });
  target = await startTestServer({ followers: true });
  acme = await makeOrganization(source, 'acme');
  mallory = await makeMember(source, 'acme', 'mallory', [acme.ownersTeam]);
  team = await makeTeam(source, 'acme', 'builders');
  const workspace = await makeWorkspace(source, 'acme', 'app');
  await addState(source, workspace);
  await addSecret(source, workspace);
  await grantWorkspaceAccess(source, team, workspace, 'write');
  await makeWorkloadIdentity(source, team, 'main', { issuer: ISSUER });
  const { id: organization } = await makeOrganization(target, 'victim');
  const victim = await makeWorkspace(target, 'victim', 'app');
  const stateVersion = await addState(target, victim);
  const variable = await addSecret(target, victim);
  const admin = await target.database.row<{ id: string }>(sql`select id from users where username = 'admin'`);
  foreign = { workspace: victim, stateVersion, variable, admin: admin?.id ?? '', organization };
  const folder = await newFolder();
  const site = { ...toSite(source), publicUrl: 'https://old.example', version: '1.2.3' };
  manifest = await exportOrganization(site, 'acme', await createArchive(folder, KEY, ORGANIZATION_EXPORT));
  exported = await openArchive(folder, KEY, ORGANIZATION_EXPORT);
  content = await readContent();
});

afterAll(async () => {
  await source?.close();
  await target?.close();
  await rm(root, { recursive: true, force: true });
});

const grant = { teamName: 'builders', access: 'admin', custom: null };
const person = () => ({ user: foreign.admin, username: 'admin' });

type Attack = readonly [title: string, refusal: RegExp, change: (own: Content) => Partial<Content>];

const add =
  (...make: readonly (() => Event)[]) =>
  ({ events }: Content): Partial<Content> => ({ events: [...events, ...make.map((one) => one())] });

/** Changes that the export alone shows, so `--check` refuses them too. */
const VISIBLE: readonly Attack[] = [
  [
    'access of a team to a workspace of another organization',
    /TeamWorkspaceAdded\) refers to ws-\w+, which is not in the export/,
    add(() => forge('TeamWorkspaceAdded', 'tws-9999999999999999', { ...grant, team, workspace: foreign.workspace })),
  ],
  [
    'access to it in an earlier schema version',
    /TeamWorkspaceAdded\) refers to ws-\w+, which is not in the export/,
    add(() => ({
      ...forge('TeamWorkspaceAdded', 'tws-9999999999999999', { ...grant, team, workspace: foreign.workspace }),
      schemaVersion: 1,
    })),
  ],
  [
    'an administrator of the site',
    /it contains the event \S+ \(UserCreated\), but accounts belong to the site/,
    add(() => forge('UserCreated', 'user-9999999999999999', { username: 'root', email: null, siteAdmin: true })),
  ],
  [
    'an identity of an existing account',
    /it contains the event \S+ \(IdentityLinked\), but people sign in to a site/,
    add(() =>
      forge('IdentityLinked', foreign.admin.replace('user-', 'sim-'), {
        ...person(),
        organizations: [],
        identity: 'lid-1',
        provider: 'idp-1',
        issuer: 'https://evil.example',
        subject: 'mallory',
      }),
    ),
  ],
  [
    'the deletion of a state of another organization',
    /is in the stream sv-\w+, but no earlier event of the export creates sv-\w+/,
    add(() => forge('StateVersionDataPermanentlyDeleted', foreign.stateVersion, { workspace: foreign.workspace })),
  ],
  [
    'an entry in the trail of another organization',
    /AuthenticationTokenCreated\) refers to org-\w+, which is not in the export/,
    add(() =>
      forge('AuthenticationTokenCreated', 'at-9999999999999999', {
        kind: 'team',
        owner: team,
        description: null,
        createdBy: null,
        expiredAt: null,
        assurance: null,
        organizations: [foreign.organization],
        restriction: { access: 'full', organization: null },
      }),
    ),
  ],
  [
    'a member that the list of users lacks',
    /has "user-\w+" as user, which is not the id of such a resource of the export/,
    add(() => forge('TeamMemberAdded', 'team-9999999999999999', { ...person(), invitation: null })),
  ],
  [
    'a user that no event names',
    /no event names its user user-\w+/,
    ({ people }) => ({
      people: {
        ...people,
        accounts: [...people.accounts, { id: 'user-9999999999999999', username: 'x', email: 'ceo@corp.example' }],
      },
    }),
  ],
  [
    'a forgotten user that no event names',
    /no event names its user user-\w+/,
    ({ people }) => ({ people: { ...people, forgotten: [foreign.admin] } }),
  ],
  [
    'an account with the id of another resource',
    /it has a user with the id "ws-\w+"/,
    ({ people }) => ({
      people: { ...people, accounts: [...people.accounts, { id: foreign.workspace, username: 'x', email: null }] },
    }),
  ],
  [
    'another name than its events',
    /its list names the organization "harmless", and its events "acme"/,
    ({ organization }) => ({ organization: { ...organization, name: 'harmless' } }),
  ],
  [
    'fewer events than their streams have',
    /has the version \d+ of its stream instead of \d+/,
    ({ events }) => ({ events: events.filter(({ type }) => type !== 'WorkspaceLocked') }),
  ],
  [
    'a secret of a resource of another organization',
    /the row "var-\w+" of vault.secrets belongs to nothing in the export/,
    ({ rows }) => ({
      rows: rows.map((table) => ({
        ...table,
        rows: table.rows.map((row) => ({ ...row, id: foreign.variable })),
      })),
    }),
  ],
  [
    'output of a run of another organization',
    /the row "ws-\w+" of runs.log_chunks belongs to nothing in the export/,
    ({ rows }) => {
      const own = rows.find(({ table }) => table === 'vault.secrets')?.rows[0] ?? {};
      const workspace = sample('WorkspaceCreated').stream;
      const chunk = {
        id: 'plan-9999999999999999/0',
        phase: 'plan-9999999999999999',
        start: 0,
        run: workspace,
        workspace,
      };
      const row = { ...chunk, organization: own['organization'] };
      return { rows: [...rows, { table: 'runs.log_chunks', columns: Object.keys(row), rows: [row] }] };
    },
  ],
  [
    'a secret of another organization',
    /the row "var-\w+" of vault.secrets belongs to nothing in the export/,
    ({ rows }) => ({
      rows: rows.map((table) => ({ ...table, rows: table.rows.map((row) => ({ ...row, organization: 'site' })) })),
    }),
  ],
  [
    'control characters in a name',
    /manifest does not have the format of exports/,
    ({ people }) => ({
      people: { ...people, accounts: people.accounts.map((one) => ({ ...one, username: `${one.username}\u001b[2K` })) },
    }),
  ],
];

/** Changes that only the importing site can find. */
const HIDDEN: readonly Attack[] = [
  [
    'events after those of a stream of the site',
    /has the version \d+ of its stream instead of 1|already contains the stream ws-/,
    add(() => forge('WorkspaceLocked', foreign.workspace, sample('WorkspaceLocked').data)),
  ],
  [
    'a person of the site as the caller of an event',
    /names user-\w+ of this site, which is not in the export/,
    add(() => {
      const event = forge('SshKeyCreated', 'sshkey-9999999999999999', { name: 'x' });
      return { ...event, context: { ...event.context, accessor: { type: 'users', id: foreign.admin, name: 'admin' } } };
    }),
  ],
  [
    'an id of the site in a text',
    /names ws-\w+ of this site, which is not in the export/,
    add(() => forge('SshKeyCreated', 'sshkey-9999999999999999', { name: foreign.workspace })),
  ],
  [
    'a file of another organization',
    /its file "state-versions\/sv-\w+\/state" belongs to nothing in the export/,
    ({ files }) => ({ files: [...files, { key: `state-versions/${foreign.stateVersion}/state`, size: 1 }] }),
  ],
  [
    'rows of another table',
    /it has rows of access.token_hashes, which is no table of organizations/,
    ({ rows, events }) => ({
      rows: [
        ...rows,
        { table: 'access.token_hashes', columns: ['id'], rows: [{ id: events[0]?.stream, organization: acme.id }] },
      ],
    }),
  ],
];

describe('a prepared export', () => {
  const expectRefused = async (archive: () => Promise<BackupArchive>, refusal: RegExp): Promise<void> => {
    const length = await logLength(target.store);
    await expect(archive().then((prepared) => importArchive(prepared, approveAll))).rejects.toThrow(refusal);
    expect(await logLength(target.store)).toBe(length);
    expectStatus(await target.get('/api/v2/organizations/acme'), 404);
    expectStatus(await target.get(`/api/v2/workspaces/${foreign.workspace}`), 200);
  };

  it.each([...VISIBLE, ...HIDDEN])('is refused with %s', async (_, refusal, change) => {
    await expectRefused(() => writeExport({ ...content, ...change(content) }), refusal);
  });

  it.each(VISIBLE)('is refused by a check with %s', async (_, refusal, change) => {
    const archive = await writeExport({ ...content, ...change(content) });
    await expect(checkArchive(archive)).rejects.toThrow(refusal);
  });

  it('is accepted by a check if it was not changed', async () => {
    await expect(checkArchive(await writeExport(content))).resolves.toBeUndefined();
  });
});

describe('the plan of an import', () => {
  it('names accounts, members, rights and issuers, and its refusal changes nothing', async () => {
    const length = await logLength(target.store);
    const plans: ImportPlan[] = [];
    const refuse = (plan: ImportPlan): Promise<void> => {
      plans.push(plan);
      return Promise.reject(new Error('not confirmed'));
    };
    await expect(importArchive(await writeExport(content), refuse)).rejects.toThrow('not confirmed');
    expect(await logLength(target.store)).toBe(length);
    expect(plans).toEqual([
      {
        organization: 'acme',
        source: 'https://old.example',
        createdAccounts: [expect.objectContaining({ id: mallory.id, username: 'mallory' })],
        joiningAccounts: [
          {
            account: expect.objectContaining({ id: foreign.admin, username: 'admin' }) as unknown,
            exported: expect.objectContaining({ username: 'admin' }) as unknown,
          },
        ],
        teams: [
          expect.objectContaining({
            name: 'owners',
            owns: true,
            members: expect.arrayContaining(['admin', 'mallory']) as unknown,
          }),
          expect.objectContaining({ name: 'builders', owns: false, members: [], workspaces: { write: 1 } }),
        ],
        workloadIdentities: [{ name: 'main', team: 'builders', issuer: ISSUER }],
      },
    ]);
  });
});

describe('an import during which somebody gets the name of one of its people in another case', () => {
  it('changes nothing', async () => {
    const { store, ids, forgetting } = target.runtime;
    const approve = async () => {
      await ensureUser(store, ids, 'MALLORY', false);
    };
    const length = await logLength(store);
    await expect(importArchive(exported, approve)).rejects.toThrow(/^another request changed a name, a user/);
    expect(await logLength(store)).toBe(length + 1);
    await expect(importArchive(exported, approveAll)).rejects.toThrow(/has the user name of MALLORY/);
    await forgetUserByName({ store, forgetting }, ids, 'mallory');
  });
});

describe('an import of an export that lists a person of the site as forgotten', () => {
  it('does not change the account and its texts', async () => {
    const { people, events } = content;
    const archive = await writeExport({
      ...content,
      people: { ...people, forgotten: [foreign.admin] },
      events: [
        ...events,
        forge('SavedViewCreated', 'sview-9999999999999999', {
          name: 'x',
          query: '',
          shared: false,
          createdBy: foreign.admin,
        }),
      ],
    });
    await importArchive(archive, approveAll);
    expect(
      await target.database.row<{ key: boolean }>(
        sql`select key is not null as key from event_store.person_keys where person = ${foreign.admin}`,
      ),
    ).toEqual({ key: true });
    expectStatus(await target.get('/api/v2/account/details'), 200);
    expectStatus(await target.get('/api/v2/organizations/acme'), 200);
  });
});
