import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { sql } from '#platform/kernel';
import { formatCheckpoint, openNote, parseCheckpoint, parseVerifierKey } from '#packages/trail-verifier';
import { FixedClock } from '../../../../test/support/clocks.js';
import {
  INSTALL_LITEWITNESS_TIMEOUT_MS,
  startLitewitness,
  type Litewitness,
} from '../../../../test/support/litewitness.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { expectStatus } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import {
  createTestSigning,
  insertTestLeaves,
  readVerifiedCheckpoint,
  tamper,
} from '../../../../test/support/trail-signing.js';
import { createTrailWitnessJob } from './witnesses.job.js';

const clock = new FixedClock();
let server: TestServer;
let witness: Litewitness;
let sign: () => Promise<number>;
let cosign: () => Promise<number>;
let size = 0;

const readKey = async () => (await server.get('/audit-trail-log/keys')).text.split('\n')[0] ?? '';

/** Adds a leaf to a log, and signs it and then the log of the site. */
const grow = async (): Promise<void> => {
  await insertTestLeaves(server.database, 'org-seen', [size, size + 1]);
  size += 1;
  clock.pass({ minutes: 2 });
  await sign();
  clock.pass({ minutes: 2 });
  await sign();
};

beforeAll(async () => {
  server = await startTestServer({ clock });
  sign = createTestSigning(server);
  await grow();
  const key = await readKey();
  witness = await startLitewitness({ [parseVerifierKey(key).name]: key });
  const file = join(server.runtime.settings.dataFolder, 'policy');
  await writeFile(
    file,
    `witness one ${witness.verifierKey} ${witness.url}\nwitness away ${witness.verifierKey} http://127.0.0.1:9\n` +
      'group both any one away\nquorum both\n',
  );
  const job = createTrailWitnessJob({ ...server.runtime, database: server.database }, file);
  cosign = () => runJobOnce(job);
}, INSTALL_LITEWITNESS_TIMEOUT_MS);

afterAll(async () => {
  await witness.remove();
  await server.close();
});

describe('the log of the site', () => {
  it('has the digests of each checkpoint, and shows neither names nor sizes', async () => {
    const checkpoint = parseCheckpoint(
      openNote((await server.get('/audit-trail-log/checkpoint')).text, [parseVerifierKey(await readKey())]).text,
    );
    expect(checkpoint.origin).toMatch(/\/audit-trail-log$/);
    const response = await fetch(`${server.url}/audit-trail-log/tile/entries/000.p/${checkpoint.size}`);
    const bundle = Buffer.from(await response.arrayBuffer());
    const organizationCheckpoint = await readVerifiedCheckpoint(server.database, 'org-seen');
    expect(bundle.readUInt16BE(0)).toBe(64);
    expect(bundle.subarray(2, 34)).toEqual(hash('sha256', organizationCheckpoint.origin, 'buffer'));
    expect(bundle.subarray(34, 66)).toEqual(hash('sha256', formatCheckpoint(organizationCheckpoint), 'buffer'));
  });
});

describe('a witness', () => {
  const readCosignatures = async () => {
    const { text } = expectStatus(await server.get('/audit-trail-log/checkpoint'), 200);
    return openNote(text, [parseVerifierKey(witness.verifierKey)]);
  };

  it('cosigns the newest checkpoint, again after the log has grown, while another witness is away', async () => {
    expect(await cosign()).toBe(1);
    expect(parseCheckpoint((await readCosignatures()).text).size).toBe(1);
    await grow();
    await grow();
    expect(await cosign()).toBe(1);
    const { text, signatures } = await readCosignatures();
    expect(parseCheckpoint(text).size).toBe(3);
    expect(signatures[0]?.time).toBeInstanceOf(Date);
  });

  it('informs the site of the size that it has cosigned, if the site has forgotten it', async () => {
    await tamper(server.database, sql`delete from audit_trail.witnesses`);
    await grow();
    expect(await cosign()).toBe(1);
    expect(parseCheckpoint((await readCosignatures()).text).size).toBe(4);
  });

  it('changes nothing if it has cosigned a longer log and does not show it', async () => {
    const before = await readVerifiedCheckpoint(server.database, 'org-seen');
    for (const table of [
      'site_leaves where index >= 2',
      "signed_checkpoints where organization = 'site' and size > 2",
    ]) {
      await tamper(server.database, sql.raw(`delete from audit_trail.${table}`));
    }
    await tamper(server.database, sql`delete from audit_trail.witnesses`);
    expect(await cosign()).toBe(0);
    clock.pass({ minutes: 2 });
    await sign();
    expect(await readVerifiedCheckpoint(server.database, 'org-seen')).toEqual(before);
  });
});
