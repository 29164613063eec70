import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  computeRoot,
  EMPTY_ROOT,
  hashLeaf,
  openNote,
  parseVerifierKey,
  proveInclusion,
  splitNote,
} from '#packages/trail-verifier';
import { createMemoryTree } from '../../../../test/support/memory-tree.js';
import { expectStatus, makeOrganization } from '../../../../test/support/seeds.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import {
  createLeaf,
  createTestSigning,
  insertTestLeaves,
  readVerifiedCheckpoint,
  tamper,
} from '../../../../test/support/trail-signing.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { LogProofReader } from '../serving/log-proofs.reader.js';
import { findNewestCheckpoint, listVerifierKeys } from '../serving/trail-logs.queries.js';
import { checkpointMetrics } from './checkpoints.metrics.js';
import { createTrailCheckpointJob } from './checkpoints.job.js';
import { PUBLISHED_CHECKPOINT_FILES } from './published-checkpoints.files.js';

let server: TestServer;
let sign: () => Promise<number>;

beforeAll(async () => {
  server = await startTestServer();
  sign = createTestSigning(server);
});
afterAll(() => server.close());

const treeOf = (size: number, history = '') =>
  createMemoryTree(Array.from({ length: size }, (_, n) => hashLeaf(createLeaf(n, history))));

const expectCheckpoint = async (organization: string, size: number, suffix = ''): Promise<void> => {
  const checkpoint = await readVerifiedCheckpoint(server.database, organization);
  const host = new URL(server.runtime.settings.publicUrl).host;
  expect(checkpoint).toEqual({
    origin: `${host}/${organization}${suffix}`,
    size,
    root: await computeRoot(size, treeOf(size)),
  });
};

const countUnsigned = async (organization: string): Promise<number> =>
  (await server.database.rows(sql`select from audit_trail.unsigned_logs where organization = ${organization}`)).length;

/** Brings the durable tables of a log back to what they were at a size, as a restore of an older backup does. */
const restoreTo = async (organization: string, size: number): Promise<void> => {
  for (const statement of [
    sql`delete from audit_trail.leaves where organization = ${organization} and index >= ${size}`,
    sql`delete from audit_trail.signed_checkpoints where organization = ${organization} and size > ${size}`,
    sql`delete from audit_trail.tiles where organization = ${organization}
           and (index + 1) * power(256, level + 1) > ${size}`,
  ]) {
    await tamper(server.database, statement);
  }
};

const listForks = async (organization: string) =>
  server.database.rows<{ data: { origin: string; previousOrigin: string; size: number; reason: string } }>(sql`
    select data from event_store.events where organization = ${organization} and type = 'AuditTrailLogForked'
     order by position`);

describe('the job that signs checkpoints', () => {
  it('signs new leaves once, and then finds nothing to do', async () => {
    await insertTestLeaves(server.database, 'org-few', [0, 3]);
    expect(await sign()).toBe(1);
    await expectCheckpoint('org-few', 3);
    expect(await countUnsigned('org-few')).toBe(0);
    expect(await sign()).toBe(0);

    await insertTestLeaves(server.database, 'org-few', [3, 300]);
    expect(await sign()).toBe(1);
    await expectCheckpoint('org-few', 300);
    expect(await sign()).toBe(0);
  });

  it('stores complete tiles, from which roots of every size follow', async () => {
    await insertTestLeaves(server.database, 'org-many', [0, 1_000]);
    await sign();
    await insertTestLeaves(server.database, 'org-many', [1_000, 1_500]);
    await sign();
    const tree = treeOf(1_500);
    for (const size of [1, 255, 256, 257, 1_000, 1_279, 1_500]) {
      const root = await computeWithTiles(server.database, 'org-many', (source) => computeRoot(size, source));
      expect(root).toEqual(await computeRoot(size, tree));
    }
  });

  it('stores tiles from which the proofs of many entries follow, and each hash is computed once', async () => {
    await insertTestLeaves(server.database, 'org-proved', [0, 700]);
    await sign();
    const tree = treeOf(700);
    const indexes = Array.from({ length: 100 }, (_, n) => n * 7);
    const proofs = await new LogProofReader(server.database).prove('org-proved', indexes, { size: 700, note: '' });
    expect(proofs).toEqual(await Promise.all(indexes.map((index) => proveInclusion(index, 700, tree))));
    const [first, second] = await computeWithTiles(server.database, 'org-proved', (source) =>
      Promise.all([source(3, 1), source(3, 1)]),
    );
    expect(first).toEqual(await tree(3, 1));
    // The same bytes of the same hashed tile.
    expect([second?.buffer === first?.buffer, second?.byteOffset]).toEqual([true, first?.byteOffset]);
  });

  it('adds a long backlog in several rounds', async () => {
    await insertTestLeaves(server.database, 'org-backlog', [0, 40_000]);
    await sign();
    await expectCheckpoint('org-backlog', 16_384);
    await sign();
    await sign();
    await expectCheckpoint('org-backlog', 40_000);
    expect(await sign()).toBe(0);
  });

  it('signs each log although another one fails', async () => {
    await insertTestLeaves(server.database, 'org-damaged', [0, 1]);
    await insertTestLeaves(server.database, 'org-sound', [0, 1]);
    const file = `${PUBLISHED_CHECKPOINT_FILES}/org-damaged`;
    await server.runtime.blobs.put(file, Buffer.from('no checkpoint'));
    const warnings = jest.fn();
    const logger = { ...quiet, warn: warnings };
    const job = createTrailCheckpointJob({ ...server.runtime, logger }, server.runtime.settings);
    expect(await runJobOnce(job)).toBe(1);
    expect(await runJobOnce(job)).toBe(0);
    await expectCheckpoint('org-sound', 1);
    // One line a minute for all rounds.
    expect(warnings.mock.calls).toEqual([
      [
        expect.objectContaining({
          err: expect.objectContaining({ message: 'the log of org-damaged could not be signed' }),
        }),
        'signing of audit trail logs failed, will retry',
      ],
    ]);
    await server.runtime.blobs.delete(file);
    expect(await runJobOnce(job)).toBe(1);
    await expectCheckpoint('org-damaged', 1);
  });

  it('reports that the history is unknown only while its process leads', async () => {
    const guard = { source: 'sample', check: () => Promise.reject(new Error('no answer')) };
    const job = createTrailCheckpointJob(
      { ...server.runtime, logger: quiet, guards: [guard] },
      server.runtime.settings,
    );
    const readUnknown = async () =>
      (await checkpointMetrics.unknownHistory.get()).values.find(({ labels }) => labels['source'] === 'sample')?.value;
    await runJobOnce(job);
    expect(await readUnknown()).toBe(1);
    job.stopLeading?.();
    expect(await readUnknown()).toBe(0);
  });

  it('marks a log again for leaves that a transaction commits while the job signs', async () => {
    await insertTestLeaves(server.database, 'org-late', [0, 1]);
    const session = await server.database.session();
    await session.run(sql`begin`);
    await session.run(sql`
      insert into audit_trail.leaves (organization, index, id, leaf)
      values ('org-late', 1, gen_random_uuid(), ${createLeaf(1)})`);
    const signing = sign();
    // The job waits for the transaction before it forgets the log.
    await session.run(sql`commit`);
    await session.close();
    await signing;
    await sign();
    await expectCheckpoint('org-late', 2);
  });
});

describe('a key', () => {
  it('is followed by another one with an overlap, announced by the earlier one', async () => {
    const { id } = await makeOrganization(server, 'rotating');
    await insertTestLeaves(server.database, id, [0, 5]);
    await sign();
    const [first = ''] = await listVerifierKeys(server.database, id);

    await server.post('/api/v2/admin/audit-trail-log-settings/actions/rotate-key');
    await sign();
    const keys = await listVerifierKeys(server.database, id);
    expect(keys).toEqual([expect.stringMatching(/^[^+]+\+[0-9a-f]{8}\+/), first]);
    const [{ data } = { data: null }] = await server.database.rows<{
      data: { verifierKey: string; announcement: string } | null;
    }>(sql`
      select data from event_store.events where organization = ${id} and type = 'AuditTrailLogKeyChanged'`);
    expect(data?.verifierKey).toBe(keys[0]);
    const { text } = openNote(data?.announcement ?? '', [parseVerifierKey(first)]);
    expect(text).toBe(`cadastre-trail-key/v1\n${parseVerifierKey(first).name}\n${keys[0]}\n`);

    await insertTestLeaves(server.database, id, [5, 6]);
    await sign();
    const note = (await findNewestCheckpoint(server.database, id))?.note ?? '';
    expect(splitNote(note).signatures).toHaveLength(2);
    for (const key of keys) expect(openNote(note, [parseVerifierKey(key)]).signatures).toHaveLength(1);

    await server.post('/api/v2/admin/audit-trail-log-settings/actions/trim-key');
    await insertTestLeaves(server.database, id, [6, 7]);
    await sign();
    const later = (await findNewestCheckpoint(server.database, id))?.note ?? '';
    expect(splitNote(later).signatures).toHaveLength(1);
    expect(openNote(later, [parseVerifierKey(keys[0] ?? '')]).signatures).toHaveLength(1);
    expect(await listVerifierKeys(server.database, id)).toEqual(keys);
  });
});

describe('a database that was restored from an older backup', () => {
  it('continues under another origin if the log is shorter than the published one', async () => {
    const { id } = await makeOrganization(server, 'shorter');
    await insertTestLeaves(server.database, id, [0, 600]);
    await sign();
    await insertTestLeaves(server.database, id, [600, 700]);
    await sign();
    await restoreTo(id, 600);
    await insertTestLeaves(server.database, id, [600, 601]);

    await sign();
    const [fork] = await listForks(id);
    expect(fork?.data).toMatchObject({ size: 700, reason: 'log_is_shorter', origin: expect.stringMatching(/\/2$/) });
    await expectCheckpointOfNextRound(id, 601, '/2');
  });

  it('continues under another origin if it grew another history, and again after another restore', async () => {
    const { id } = await makeOrganization(server, 'different');
    await insertTestLeaves(server.database, id, [0, 10]);
    await sign();
    await restoreTo(id, 8);
    await tamper(server.database, sql`delete from audit_trail.unsigned_logs where organization = ${id}`);
    await insertTestLeaves(server.database, id, [8, 20], 'other');
    await sign();
    await sign();
    await restoreTo(id, 8);
    // The backup is older than the second origin.
    await tamper(server.database, sql`delete from audit_trail.log_keys where organization = ${id} and position > 0`);
    await insertTestLeaves(server.database, id, [8, 30], 'third');
    await sign();
    await sign();
    const forks = await listForks(id);
    expect(forks.map(({ data }) => [data.previousOrigin.split('/').slice(2).join(), data.size, data.reason])).toEqual([
      ['', 10, 'log_differs'],
      ['2', 20, 'log_differs'],
    ]);
    expect((await readVerifiedCheckpoint(server.database, id)).origin).toMatch(/\/3$/);
  });

  it('continues under another origin if the file store has lost the published checkpoint', async () => {
    const { id } = await makeOrganization(server, 'lost');
    await insertTestLeaves(server.database, id, [0, 10]);
    await sign();
    await server.runtime.blobs.delete(`${PUBLISHED_CHECKPOINT_FILES}/${id}`);
    await insertTestLeaves(server.database, id, [10, 11]);
    await sign();
    const [fork] = await listForks(id);
    expect(fork?.data).toMatchObject({
      size: 10,
      reason: 'published_checkpoint_is_missing',
      origin: expect.stringMatching(/\/2-[0-9a-f]{8}$/),
    });
    await sign();
    expect((await readVerifiedCheckpoint(server.database, id)).size).toBe(11);
  });

  it('records the fork of an organization that changes at the same time', async () => {
    const { id } = await makeOrganization(server, 'busy');
    await insertTestLeaves(server.database, id, [0, 10]);
    await sign();
    await server.runtime.blobs.delete(`${PUBLISHED_CHECKPOINT_FILES}/${id}`);
    await insertTestLeaves(server.database, id, [10, 11]);
    const { blobs } = server.runtime;
    const get = blobs.get.bind(blobs);
    const reading = jest.spyOn(blobs, 'get').mockImplementation(async (file) => {
      const attributes = { email: 'other@busy.test' };
      if (file.endsWith(id)) {
        expectStatus(
          await server.patch('/api/v2/organizations/busy', { data: { type: 'organizations', attributes } }),
          200,
        );
      }
      return get(file);
    });
    await sign();
    reading.mockRestore();
    expect(await listForks(id)).toHaveLength(1);
  });

  it('continues under another origin if the restore deleted all checkpoints and the file store is new', async () => {
    const { id } = await makeOrganization(server, 'trimmed');
    await insertTestLeaves(server.database, id, [0, 10]);
    await sign();
    const keys = await listVerifierKeys(server.database, id);
    await restoreTo(id, 8);
    await server.runtime.blobs.delete(`${PUBLISHED_CHECKPOINT_FILES}/${id}`);
    await insertTestLeaves(server.database, id, [8, 20], 'other');
    for (let round = 0; round < 3; round += 1) await sign();
    expect((await listForks(id)).map(({ data }) => [data.size, data.reason])).toEqual([
      [0, 'published_checkpoint_is_missing'],
    ]);
    const { origin, size } = await readVerifiedCheckpoint(server.database, id);
    expect([origin, size]).toEqual([expect.stringMatching(/\/2-[0-9a-f]{8}$/), 20]);
    expect((await listVerifierKeys(server.database, id)).slice(1)).toEqual(keys);
  });

  it('names the last checkpoint also if a fork was interrupted before it reached the database', async () => {
    const { id } = await makeOrganization(server, 'interrupted');
    await insertTestLeaves(server.database, id, [0, 10]);
    await sign();
    await server.runtime.blobs.delete(`${PUBLISHED_CHECKPOINT_FILES}/${id}`);
    const { origin } = await readVerifiedCheckpoint(server.database, id);
    const empty = `${origin}/2-00000000\n0\n${EMPTY_ROOT.toString('base64')}\n\n— x AAAAAAA=\n`;
    await server.runtime.blobs.put(`${PUBLISHED_CHECKPOINT_FILES}/${id}`, Buffer.from(empty));
    await insertTestLeaves(server.database, id, [10, 11]);
    await sign();
    await sign();
    expect((await listForks(id)).map(({ data }) => [data.previousOrigin, data.size])).toEqual([[origin, 10]]);
    expect((await readVerifiedCheckpoint(server.database, id)).size).toBe(11);
  });

  it('continues under the same origin if nothing was published since the backup', async () => {
    await insertTestLeaves(server.database, 'org-same', [0, 10]);
    await sign();
    await insertTestLeaves(server.database, 'org-same', [10, 12]);
    await restoreTo('org-same', 10);
    await insertTestLeaves(server.database, 'org-same', [10, 11], '');
    await sign();
    await expectCheckpoint('org-same', 11);
  });
});

const expectCheckpointOfNextRound = async (organization: string, size: number, suffix: string): Promise<void> => {
  await sign();
  await expectCheckpoint(organization, size, suffix);
};

describe('a job that was killed', () => {
  it('continues after the first checkpoint was published and not committed', async () => {
    await insertTestLeaves(server.database, 'org-first', [0, 3]);
    await sign();
    for (const table of ['signed_checkpoints', 'log_keys']) {
      await tamper(server.database, sql.raw(`delete from audit_trail.${table} where organization = 'org-first'`));
    }
    await insertTestLeaves(server.database, 'org-first', [3, 4]);
    await sign();
    await expectCheckpoint('org-first', 4);
  });

  it('continues after the checkpoint was published and not committed', async () => {
    await insertTestLeaves(server.database, 'org-killed', [0, 300]);
    await sign();
    await insertTestLeaves(server.database, 'org-killed', [300, 900]);
    await sign();
    // As if the last transaction had never happened.
    await tamper(
      server.database,
      sql`delete from audit_trail.signed_checkpoints where organization = 'org-killed' and size = 900`,
    );
    await tamper(server.database, sql`delete from audit_trail.tiles where organization = 'org-killed' and index > 0`);
    await insertTestLeaves(server.database, 'org-killed', [900, 901]);
    await sign();
    await expectCheckpoint('org-killed', 901);
  });
});

it('two projectors sign the same history', async () => {
  const others = createTestSigning(server);
  for (let size = 0; size < 600; size += 100) {
    await insertTestLeaves(server.database, 'org-two', [size, size + 100]);
    await Promise.allSettled([sign(), others()]);
  }
  await sign();
  await expectCheckpoint('org-two', 600);
});
