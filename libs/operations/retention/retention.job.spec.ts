import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Message } from '#platform/kernel';
import type { ScheduledJob } from '#platform/postgres';
import { createSystemContext } from '#api/access';
import { runsDefinition } from '#runs/runs';
import { stateDefinition } from '#workspaces/state';
import { FixedClock } from '../../../test/support/clocks.js';
import { waitForFollowers, logLength } from '../../../test/support/event-log.js';
import { runBetween } from '../../../test/support/interleaving.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeWorkspace,
  resource,
  runBody,
} from '../../../test/support/seeds.js';
import { newStateVersion, stateFile } from '../../../test/support/state-file.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { createExpiryJob, createRetentionJob } from './index.js';
import { deleteOlders, dontDeletes } from './spec.js';
import { listStoredEntries } from '../../activity/audit-trail/spec.js';

let server: TestServer;
let job: ScheduledJob;
const clock = new FixedClock();

beforeAll(async () => {
  server = await startTestServer({ clock, followers: true });
  job = createRetentionJob(server.store, clock, server.runtime.ids, 60_000);
});

afterAll(() => server.close());

let organization: string;
let count = 0;
const newOrganization = async (): Promise<string> =>
  (await makeOrganization(server, `organization-${(count += 1)}`)).name;

beforeEach(async () => {
  organization = await newOrganization();
});

const newWorkspace = (): Promise<string> => makeWorkspace(server, organization, `ws-${(count += 1)}`);

const lineages = new Map<string, { readonly lineage: string; serial: number }>();

/**
 * Stores states one after the other and returns the ids of their versions. Unlocks the workspace unless `unlocks` is
 * false.
 */
const store = async (workspace: string, versions: number, { unlocks = true } = {}): Promise<string[]> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const state = lineages.get(workspace) ?? { lineage: `lineage-of-${workspace}`, serial: 0 };
  lineages.set(workspace, state);
  const ids: string[] = [];
  for (let n = 0; n < versions; n += 1) {
    state.serial += 1;
    const body = newStateVersion(stateFile(state), { inline: true });
    const created = await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body);
    ids.push(expectStatus(created, 201).body.data.id as string);
  }
  if (unlocks) expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  return ids;
};

const set = async (of: string, policy: object): Promise<void> => {
  const owner = of.startsWith('ws-') ? `workspaces/${of}` : `organizations/${of}`;
  expectStatus(await server.post(`/api/v2/${owner}/relationships/data-retention-policy`, policy), 200);
};

/** Runs the job once. Returns how many versions it deleted. */
const runJob = () => runJobOnce(job);

/** Returns those of the versions whose data still exists. */
const listExisting = async (versions: readonly string[]): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ id: string }>(sql`
    select id from state_versions where id = any (${versions}::text[]) and status = 'finalized'`);
  const existing = new Set(rows.map(({ id }) => id));
  return versions.filter((id) => existing.has(id));
};

const restore = async (version: string): Promise<void> =>
  void expectStatus(await server.post(`/api/v2/state-versions/${version}/actions/restore_backing_data`), 200);

describe('a policy of 30 days', () => {
  it('soft-deletes data after 31 days, not after 29, and never the current version', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const versions = await store(workspace, 3);
    clock.pass({ days: 29 });
    expect(await runJob()).toBe(0);
    clock.pass({ days: 2 });
    expect(await runJob()).toBe(2);
    expect(await listExisting(versions)).toEqual(versions.slice(2));
    const version = expectStatus(await server.get(`/api/v2/state-versions/${versions[0]}`), 200).body.data;
    expect(version.attributes.status).toBe('backing_data_soft_deleted');
    const current = await server.get(`/api/v2/workspaces/${workspace}/current-state-version`);
    expect(expectStatus(current, 200).body.data.id).toBe(versions[2]);
    expectStatus(await server.get(`/api/v2/state-versions/${versions[2]}/download`), 200);
    clock.pass({ days: 1_000 });
    expect(await runJob()).toBe(0);
  });

  it('deletes a former current version by its age, not by the time of its replacement', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const [first = ''] = await store(workspace, 1);
    clock.pass({ days: 40 });
    expect(await runJob()).toBe(0);
    const [second = ''] = await store(workspace, 1);
    expect(await runJob()).toBe(1);
    expect(await listExisting([first, second])).toEqual([second]);
  });

  it('keeps the version that becomes current when the workspace is unlocked', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const [current = ''] = await store(workspace, 1);
    const [between = '', next = ''] = await store(workspace, 2, { unlocks: false });
    clock.pass({ days: 31 });
    expect(await runJob()).toBe(1);
    expect(await listExisting([current, between, next])).toEqual([current, next]);
  });

  it('deletes a restored version only after another 30 days', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const [old = ''] = await store(workspace, 2);
    clock.pass({ days: 31 });
    expect(await runJob()).toBe(1);
    await restore(old);
    expect(await runJob()).toBe(0);
    clock.pass({ days: 29 });
    expect(await runJob()).toBe(0);
    clock.pass({ days: 2 });
    expect(await runJob()).toBe(1);
    expect(await listExisting([old])).toEqual([]);
  });
});

const statusOf = async (type: string, id: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/${type}/${id}`), 200).body.data.attributes.status as string;

const CONFIGURATIONS = 'configuration-versions';

describe('the configuration versions of a workspace with a policy of 30 days', () => {
  /** Creates uploaded configuration versions. Returns their ids, oldest first. */
  const configurations = async (workspace: string, ...attributes: readonly object[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const each of attributes) {
      clock.pass({ ms: 1 });
      ids.push(await makeConfigurationVersion(server, workspace, each));
    }
    return ids;
  };
  const statusesOf = (ids: readonly string[]) => Promise.all(ids.map((id) => statusOf(CONFIGURATIONS, id)));
  const [UPLOADED, DELETED] = ['uploaded', 'backing_data_soft_deleted'];

  it('are soft-deleted after 30 days, except the newest uploaded one', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const ids = await configurations(workspace, {}, { speculative: true }, {}, {});
    // The current version, which has no archive yet.
    clock.pass({ ms: 1 });
    expectStatus(await server.post(`/api/v2/workspaces/${workspace}/${CONFIGURATIONS}`), 201);
    clock.pass({ days: 29 });
    expect(await runJob()).toBe(0);
    clock.pass({ days: 2 });
    expect(await runJob()).toBe(3);
    expect(await statusesOf(ids)).toEqual([DELETED, DELETED, DELETED, UPLOADED]);
    expect(await runJob()).toBe(0);
  });

  it('are kept while a run uses them, also a run of another workspace', async () => {
    const [workspace, otherWorkspace] = [await newWorkspace(), await newWorkspace()];
    await set(workspace, deleteOlders(30));
    const ids = await configurations(workspace, {}, {});
    const [old = ''] = ids;
    const configuration = { 'configuration-version': { data: { type: CONFIGURATIONS, id: old } } };
    const run = expectStatus(await server.post('/api/v2/runs', runBody(otherWorkspace, {}, configuration)), 201).body
      .data.id as string;
    clock.pass({ days: 31 });
    expect(await runJob()).toBe(0);
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    expect(await runJob()).toBe(1);
    expect(await statusesOf(ids)).toEqual([DELETED, UPLOADED]);
  });

  it('are kept for 30 more days after they are restored', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const [old = ''] = await configurations(workspace, {}, {});
    clock.pass({ days: 31 });
    expect(await runJob()).toBe(1);
    expectStatus(await server.post(`/api/v2/${CONFIGURATIONS}/${old}/actions/restore_backing_data`), 200);
    clock.pass({ days: 29 });
    expect(await runJob()).toBe(0);
    clock.pass({ days: 2 });
    expect(await runJob()).toBe(1);
  });
});

describe('soft-deleted data', () => {
  const expire = () =>
    runJobOnce(createExpiryJob(server.store, clock, server.runtime.ids, { everyMs: 60_000, days: 30 }));
  const softDelete = async (type: string, id: string): Promise<void> =>
    void expectStatus(await server.post(`/api/v2/${type}/${id}/actions/soft_delete_backing_data`), 200);

  // Deletes the data that other tests have soft-deleted.
  beforeEach(async () => {
    clock.pass({ days: 31 });
    await expire();
  });

  it('is permanently deleted after 30 days with an entry in the audit trail, unless it was restored', async () => {
    const workspace = await newWorkspace();
    const [old = '', restored = ''] = await store(workspace, 3);
    const configuration = await makeConfigurationVersion(server, workspace);
    clock.pass({ ms: 1 });
    await makeConfigurationVersion(server, workspace);
    for (const id of [old, restored]) await softDelete('state-versions', id);
    await softDelete(CONFIGURATIONS, configuration);
    clock.pass({ days: 29 });
    await restore(restored);
    expect(await expire()).toBe(0);
    clock.pass({ days: 2 });
    expect(await expire()).toBe(2);
    const deleted = 'backing_data_permanently_deleted';
    expect([
      await statusOf('state-versions', old),
      await statusOf('state-versions', restored),
      await statusOf(CONFIGURATIONS, configuration),
    ]).toEqual([deleted, 'finalized', deleted]);
    await waitForFollowers(server.store, 'audit_trail');
    const entries = await listStoredEntries(
      server.database,
      sql`e.action = 'permanently_delete_backing_data' and e.resource_id = any (${[old, configuration]}::text[])`,
    );
    expect(entries).toHaveLength(2);
    expect(await expire()).toBe(0);
  });

  it('is kept if it is restored while the job runs', async () => {
    const [old = ''] = await store(await newWorkspace(), 2);
    await softDelete('state-versions', old);
    clock.pass({ days: 31 });
    runBetween(server.store, () => restore(old));
    expect(await expire()).toBe(0);
    expect(await statusOf('state-versions', old)).toBe('finalized');
  });
});

describe('the effective policy', () => {
  it('is that of the organization if the workspace has none', async () => {
    const others = await store(await newWorkspace(), 2);
    organization = await newOrganization();
    const versions = [...(await store(await newWorkspace(), 2)), ...(await store(await newWorkspace(), 2))];
    await set(organization, deleteOlders(30));
    clock.pass({ days: 31 });
    expect(await runJob()).toBe(2);
    expect(await listExisting(versions)).toEqual([versions[1], versions[3]]);
    expect(await listExisting(others)).toEqual(others);
  });

  it('is that of the workspace if it has one: longer, shorter or unlimited', async () => {
    await set(organization, deleteOlders(30));
    const [longer, shorter, spared] = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
    await set(longer, deleteOlders(60));
    await set(shorter, deleteOlders(10));
    await set(spared, dontDeletes);
    const [long = ''] = await store(longer, 2);
    const [short = ''] = await store(shorter, 2);
    const [unlimited = ''] = await store(spared, 2);
    clock.pass({ days: 11 });
    expect(await runJob()).toBe(1);
    expect(await listExisting([long, short, unlimited])).toEqual([long, unlimited]);
    clock.pass({ days: 20 });
    expect(await runJob()).toBe(0);
    clock.pass({ days: 30 });
    expect(await runJob()).toBe(1);
    expect(await listExisting([long, unlimited])).toEqual([unlimited]);
    expectStatus(await server.delete(`/api/v2/workspaces/${spared}/relationships/data-retention-policy`), 204);
    expect(await runJob()).toBe(1);
    expect(await listExisting([unlimited])).toEqual([]);
  });

  it('deletes nothing if the organization has none, or has one that deletes nothing', async () => {
    const versions = await store(await newWorkspace(), 2);
    clock.pass({ days: 400 });
    expect(await runJob()).toBe(0);
    await set(organization, dontDeletes);
    expect(await runJob()).toBe(0);
    expect(await listExisting(versions)).toEqual(versions);
  });
});

describe('the retention job and simultaneous changes', () => {
  const due = async (): Promise<{ workspace: string; old: string }> => {
    const workspace = await newWorkspace();
    await set(organization, deleteOlders(30));
    const [old = ''] = await store(workspace, 2);
    clock.pass({ days: 31 });
    return { workspace, old };
  };

  it('keeps the data if the organization now deletes nothing', async () => {
    const { old } = await due();
    runBetween(server.store, () => set(organization, dontDeletes));
    expect(await runJob()).toBe(0);
    expect(await listExisting([old])).toEqual([old]);
  });

  it('keeps the data if the workspace now deletes nothing', async () => {
    const { workspace, old } = await due();
    runBetween(server.store, () => set(workspace, dontDeletes));
    expect(await runJob()).toBe(0);
    expect(await listExisting([old])).toEqual([old]);
  });

  it('deletes no version if the workspace is deleted', async () => {
    const { workspace } = await due();
    runBetween(server.store, () => server.delete(`/api/v2/workspaces/${workspace}`));
    expect(await runJob()).toBe(0);
  });

  it('deletes the data if the change concerns something else', async () => {
    const { workspace, old } = await due();
    const body = resource('workspaces', { description: 'busy' });
    runBetween(server.store, () => server.patch(`/api/v2/workspaces/${workspace}`, body));
    expect(await runJob()).toBe(1);
    expect(await listExisting([old])).toEqual([]);
  });

  it('deletes nothing twice if two runs overlap', async () => {
    await due();
    const before = await logLength(server.store);
    const done = await Promise.all([runJob(), runJob()]);
    expect(done.reduce((sum, some) => sum + some)).toBe(1);
    expect(await logLength(server.store)).toBe(before + 1);
    expect(await runJob()).toBe(0);
    expect(await logLength(server.store)).toBe(before + 1);
  });

  it('deletes the others if one deletion fails, and the next run repeats the failed one', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const versions = await store(workspace, 4);
    clock.pass({ days: 31 });
    runBetween(server.store, () => Promise.reject(new Error('the disk is full')));
    await expect(runJob()).rejects.toMatchObject({
      message: 'the data of 1 versions and runs could not be deleted',
      cause: { message: 'the disk is full' },
    });
    // Three versions are due. They are equally old, so their ids decide which of them are deleted first.
    expect(await listExisting(versions)).toEqual([expect.any(String), versions[3]]);
    expect(await runJob()).toBe(1);
    expect(await listExisting(versions)).toEqual([versions[3]]);
  });

  it('leaves the remaining deletions to the next run if the process stops', async () => {
    const { old } = await due();
    const stopping = new AbortController();
    stopping.abort();
    await job.run({ signal: stopping.signal, done: () => undefined });
    expect(await listExisting([old])).toEqual([old]);
    expect(await runJob()).toBe(1);
  });
});

describe('a long history', () => {
  /** Appends many state versions directly to the log. They have no files, which these tests do not need. */
  const storeMany = async (workspace: string, versions: number): Promise<string[]> => {
    const [row] = await server.database.rows<{ organization: string }>(
      sql`select organization from workspaces where id = ${workspace}`,
    );
    const ids = Array.from({ length: versions }, () => server.runtime.ids.next('sv'));
    const createdBy = { type: 'users', id: 'user-1', name: 'ada' };
    const facts = {
      format: 4,
      lineage: null,
      size: 1,
      terraformVersion: null,
      resources: 0,
      providers: {},
      modules: {},
      outputs: [],
    };
    const events: Message[] = ids.flatMap((id, serial) => [
      {
        type: 'StateVersionCreated',
        data: { id, serial, lineage: null, md5: 'x', createdBy, run: null, rollbackOf: null },
      },
      { type: 'StateVersionFinalized', data: { id, ...facts } },
      { type: 'StateVersionPromoted', data: { id, resources: 0 } },
    ]);
    // Version 1: the workspace was created and has not changed since.
    await server.store.append(
      [{ stream: workspace, organization: row?.organization ?? null, expected: 1, events }],
      createSystemContext('a test', ''),
    );
    return ids;
  };

  it('is processed page by page to its end', async () => {
    const workspace = await newWorkspace();
    const versions = await storeMany(workspace, 220);
    await set(workspace, deleteOlders(1));
    clock.pass({ days: 2 });
    expect(await runJob()).toBe(219);
    expect(await listExisting(versions)).toEqual(versions.slice(-1));
  });
});

describe('the log', () => {
  it('names the system as actor of the deletions, and rebuilds to the same views', async () => {
    const workspace = await newWorkspace();
    await set(workspace, deleteOlders(30));
    const [old = ''] = await store(workspace, 2);
    clock.pass({ days: 31 });
    await runJob();
    await restore(old);
    await waitForFollowers(server.store, 'audit_trail');
    expect(await listStoredEntries(server.database, sql`e.resource_id = ${old}`)).toMatchObject([
      { resource: { action: 'create' } },
      {
        auth: { type: 'System', accessor_id: 'system', description: 'data retention' },
        resource: { type: 'state_version', action: 'soft_delete_backing_data', meta: { workspace_id: workspace } },
      },
      { resource: { action: 'restore_backing_data' } },
    ]);
    await expectViewsMatchLog(server, [stateDefinition, runsDefinition]);
  });
});
