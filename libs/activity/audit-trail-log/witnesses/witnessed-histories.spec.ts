import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { openNote, parseCheckpoint, parseVerifierKey, signNote, splitNote } from '#packages/trail-verifier';
import { FixedClock } from '../../../../test/support/clocks.js';
import { waitUntil } from '../../../../test/support/product.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { startTestWitness, type TestWitness } from '../../../../test/support/test-witness.js';
import {
  createTestSigning,
  insertTestLeaves,
  readVerifiedCheckpoint,
  tamper,
} from '../../../../test/support/trail-signing.js';
import { createTrailWitnessJob, createWitnessGuard } from './witnesses.job.js';

const clock = new FixedClock();
let server: TestServer;
let witness: TestWitness;
let slow: TestWitness;
let sign: () => Promise<number>;
let cosign: () => Promise<number>;
let size = 0;

/** Signs the logs of organizations and then the log of the site. */
const signAll = async (): Promise<void> => {
  for (let round = 0; round < 2; round += 1) {
    clock.pass({ minutes: 2 });
    await sign();
  }
};

const grow = async (): Promise<void> => {
  await insertTestLeaves(server.database, 'org-seen', [size, size + 1]);
  size += 1;
  await signAll();
};

/** Until then, the site serves the last checkpoint that a quorum has cosigned. */
const passTenMinutes = async (): Promise<void> => {
  for (let count = 0; count < 3; count += 1) await grow();
};

const readNote = async (): Promise<string> => (await server.get('/audit-trail-log/checkpoint')).text;

const readSiteOrigin = async (): Promise<string> =>
  parseVerifierKey((await server.get('/audit-trail-log/keys')).text.split('\n')[0] ?? '').name;

/** Brings the log of the site back to what it was, as a restore of an older backup does. */
const restoreTo = async (restored: number): Promise<void> => {
  await tamper(server.database, sql`delete from audit_trail.site_leaves where index >= ${restored}`);
  await tamper(
    server.database,
    sql`delete from audit_trail.signed_checkpoints where organization = 'site' and size > ${restored}`,
  );
};

/** Returns a function that runs the job with a policy once. */
const createCosigning = async (policy: string): Promise<() => Promise<number>> => {
  const file = join(server.runtime.settings.dataFolder, 'policy');
  await writeFile(file, policy);
  const job = createTrailWitnessJob({ ...server.runtime, database: server.database }, file);
  return () => runJobOnce(job);
};

beforeAll(async () => {
  server = await startTestServer({ clock });
  sign = createTestSigning(server);
  witness = await startTestWitness('witness.example');
  slow = await startTestWitness('slow.example');
  cosign = await createCosigning(`witness one ${witness.verifierKey} ${witness.url}\nquorum one\n`);
  await grow();
});
beforeEach(() => {
  witness.answer = witness.cosign;
  witness.checkpoint = null;
});
afterAll(async () => {
  await witness.close();
  await slow.close();
  await server.close();
});

describe('a slow witness', () => {
  it('delays no cosignature of another one, and completes the quorum', async () => {
    const cosignBoth = await createCosigning(
      `witness one ${witness.verifierKey} ${witness.url}\nwitness slow ${slow.verifierKey} ${slow.url}\n` +
        'group both all one slow\nquorum both\n',
    );
    const readStored = () =>
      server.database.row<{ note: string; witnessed: boolean; sizes: number }>(sql`
        select note, witnessed, (select count(*) from audit_trail.witnesses)::int as sizes
          from audit_trail.signed_checkpoints where organization = 'site' order by size desc limit 1`);
    slow.answer = async (note) => {
      await waitUntil(async () => (await readStored())?.sizes === 1, 'the other cosignature is stored');
      const stored = await readStored();
      expect(openNote(stored?.note ?? '', [parseVerifierKey(witness.verifierKey)]).signatures).toHaveLength(1);
      expect(stored?.witnessed).toBe(false);
      return slow.cosign(note);
    };
    expect(await cosignBoth()).toBe(2);
    const stored = await readStored();
    const keys = [witness, slow].map(({ verifierKey }) => parseVerifierKey(verifierKey));
    expect(openNote(stored?.note ?? '', keys).signatures).toHaveLength(2);
    expect(stored).toMatchObject({ witnessed: true, sizes: 2 });
    await grow();
  });
});

describe('the checkpoint that the site serves', () => {
  const readSize = async (): Promise<number> => parseCheckpoint(splitNote(await readNote()).text).size;

  it('never goes back to a smaller one that is cosigned late', async () => {
    await passTenMinutes();
    const first = await readSize();
    witness.answer = async (note) => {
      await grow();
      expect(await readSize()).toBe(first + 1);
      return witness.cosign(note);
    };
    expect(await cosign()).toBe(1);
    expect(await readSize()).toBe(first + 1);
    witness.answer = witness.cosign;
    await cosign();
    // A late cosignature counts if the one that is served is older.
    await grow();
    expect(await readSize()).toBe(first + 1);
    witness.answer = async (note) => {
      await grow();
      expect(await readSize()).toBe(first + 1);
      return witness.cosign(note);
    };
    expect(await cosign()).toBe(1);
    expect(await readSize()).toBe(first + 2);
    await passTenMinutes();
  });
});

describe('a witness that refuses a checkpoint', () => {
  const expectNoFork = async (): Promise<void> => {
    const origin = await readSiteOrigin();
    expect(await cosign()).toBe(0);
    await grow();
    expect(await readSiteOrigin()).toBe(origin);
    expect((await readVerifiedCheckpoint(server.database, 'org-seen')).origin).not.toMatch(/\/2/);
  };

  it.each([
    ['a larger size', { status: 409, body: '999999\n' }],
    ['its own size again and again', { status: 409, body: '0\n' }],
    ['a refusal of the proof', { status: 422, body: '' }],
  ])('changes nothing with %s alone', async (_, answer) => {
    witness.answer = () => answer;
    await expectNoFork();
  });

  it('changes nothing with a checkpoint that the site has not signed', async () => {
    witness.answer = () => ({ status: 409, body: '999999\n' });
    const { privateKey } = generateKeyPairSync('ed25519');
    const origin = await readSiteOrigin();
    const text = `${origin}\n999999\n${Buffer.alloc(32).toString('base64')}\n`;
    witness.checkpoint = signNote(text, [{ name: origin, privateKey }]);
    await expectNoFork();
    // With a signature of the site on another text.
    const lines = (await readNote()).slice(splitNote(await readNote()).text.length);
    witness.checkpoint = `${text}${lines}`;
    await expectNoFork();
  });

  it('changes nothing with a checkpoint that the log continues', async () => {
    witness.answer = () => ({ status: 422, body: '' });
    witness.checkpoint = await readNote();
    await grow();
    await expectNoFork();
  });

  it('changes nothing if another process signs meanwhile, and the witness cosigns that', async () => {
    const origin = await readSiteOrigin();
    witness.answer = async () => {
      await passTenMinutes();
      witness.checkpoint = await readNote();
      witness.answer = () => ({ status: 422, body: '' });
      return { status: 422, body: '' };
    };
    expect(await cosign()).toBe(0);
    await signAll();
    expect(await readSiteOrigin()).toBe(origin);
  });
});

describe('a witness that shows a checkpoint which the log does not continue', () => {
  it.each([
    ['a longer one', 0, { status: 409, body: '999999\n' }, '2'],
    ['another one of a smaller size', 4, { status: 422, body: '' }, '3'],
  ])('proves with %s that the database was restored, so all logs get other origins', async (_, grown, answer, n) => {
    const restored = size - 1;
    for (let count = 0; count < 2; count += 1) await grow();
    witness.checkpoint = await readNote();
    await restoreTo(restored);
    // The file store was restored too.
    await server.runtime.blobs.delete('trail-checkpoints/site');
    const row = await server.database.row<{ note: string }>(sql`
      select note from audit_trail.signed_checkpoints where organization = 'site' order by size desc limit 1`);
    await server.runtime.blobs.put('trail-checkpoints/site', Buffer.from(row?.note ?? ''));
    for (let count = 0; count < grown; count += 1) await grow();
    witness.answer = () => answer;
    await cosign();
    await signAll();
    await signAll();
    const suffix = new RegExp(`/${n}-[0-9a-f]{8}$`);
    expect(await readSiteOrigin()).toMatch(suffix);
    expect((await readVerifiedCheckpoint(server.database, 'org-seen')).origin).toMatch(suffix);
  });
});

describe('a projector that starts after the database and the file store were restored', () => {
  const startSigning = () =>
    createTestSigning(server, [
      createWitnessGuard(
        { ...server.runtime, database: server.database },
        join(server.runtime.settings.dataFolder, 'policy'),
      ),
    ]);
  const readOrigin = async () => (await readVerifiedCheckpoint(server.database, 'org-seen')).origin;

  /** Restores the log of the site and of the organization, with the files of both. */
  const restoreAll = async (restored: number, siteSize: number): Promise<void> => {
    await restoreTo(siteSize);
    await tamper(
      server.database,
      sql`delete from audit_trail.leaves where organization = 'org-seen' and index >= ${restored}`,
    );
    await tamper(
      server.database,
      sql`delete from audit_trail.signed_checkpoints where organization = 'org-seen' and size > ${restored}`,
    );
    for (const log of ['site', 'org-seen']) {
      const row = await server.database.row<{ note: string }>(sql`
        select note from audit_trail.signed_checkpoints where organization = ${log} order by position desc limit 1`);
      await server.runtime.blobs.delete(`trail-checkpoints/${log}`);
      await server.runtime.blobs.put(`trail-checkpoints/${log}`, Buffer.from(row?.note ?? ''));
    }
    size = restored;
  };
  const countSiteLeaves = async () =>
    (await server.database.row<{ count: number }>(sql`select count(*)::int as count from audit_trail.site_leaves`))
      ?.count ?? 0;

  it('reads the checkpoint of the witness before it signs, so that no second history has the same origin', async () => {
    await createCosigning(`witness one ${witness.verifierKey} ${witness.url}\nquorum one\n`);
    const [restored, siteSize] = [size, await countSiteLeaves()];
    for (let count = 0; count < 2; count += 1) await grow();
    const origin = await readOrigin();
    witness.checkpoint = await readNote();
    await restoreAll(restored, siteSize);
    await insertTestLeaves(server.database, 'org-seen', [size, size + 2], 'another history');
    sign = startSigning();
    await sign();
    await sign();
    const signed = await server.database.rows<{ size: number }>(sql`
      select size from audit_trail.signed_checkpoints
       where organization = 'org-seen' and origin = ${origin} and size > ${restored}`);
    expect(signed).toEqual([]);
    expect(await readOrigin()).not.toBe(origin);
  });

  it('signs under the same origin if the witness shows what the log continues, or nothing', async () => {
    await signAll();
    for (const checkpoint of [null, await readNote()]) {
      witness.checkpoint = checkpoint;
      const origin = await readOrigin();
      sign = startSigning();
      await insertTestLeaves(server.database, 'org-seen', [size + 2, size + 3]);
      size += 1;
      expect(await sign()).toBe(1);
      expect(await readOrigin()).toBe(origin);
    }
  });

  it('signs in the third round if no witness answers', async () => {
    await createCosigning(`witness one ${slow.verifierKey} http://127.0.0.1:1\nquorum one\n`);
    sign = startSigning();
    await insertTestLeaves(server.database, 'org-seen', [size + 2, size + 3]);
    expect([await sign(), await sign(), await sign()]).toEqual([0, 0, 1]);
  });
});
