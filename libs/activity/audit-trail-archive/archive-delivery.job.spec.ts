import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  act,
  createAuditedOrganization,
  type AuditedOrganization,
} from '../../../test/support/audited-organization.js';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { startLockingS3, type LockingS3 } from '../../../test/support/locking-s3/index.js';
import { INSTALL_PYTHON_TIMEOUT_MS } from '../../../test/support/python.js';
import { expectStatus, makeMember } from '../../../test/support/seeds.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { computeLeaf, parseVerifierKey, runVerify, verifyExport } from '#packages/trail-verifier';
import { sql } from '#platform/kernel';
import { ArchiveBucket, ArchiveUnavailableError, type ArchiveObject } from '#storage/blob-store';
import { createFact, registerSource } from '../facts/spec.js';
import { createTestSigning } from '../../../test/support/trail-signing.js';
import { createAuditArchiveJob } from './archive-delivery.job.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const clock = new AdjustableClock();
let s3: LockingS3;
let server: TestServer;
let sign: () => Promise<number>;
let prefix: string;

beforeAll(async () => {
  [s3, server] = await Promise.all([startLockingS3(), startTestServer({ followers: true, clock })]);
  sign = createTestSigning(server);
}, INSTALL_PYTHON_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await s3.stop();
});

beforeEach(async () => {
  prefix = randomUUID();
  // Each test has a bucket of its own, which has nothing yet.
  await server.database.rows(sql`delete from audit_trail.archive_deliveries`);
});

const describeLocation = () => ({
  bucket: s3.bucket,
  endpoint: s3.endpoint,
  credentials: s3.credentials,
  region: null,
  prefix,
  pathStyle: true,
});

/** A process that ends after some objects. */
class EndingArchive extends ArchiveBucket {
  constructor(private left: number) {
    super(describeLocation(), 1, server.runtime.clock);
  }

  override async add(object: ArchiveObject, earlierDigests?: readonly string[]): Promise<void> {
    this.countDown();
    return super.add(object, earlierDigests);
  }

  override async addVersion(object: ArchiveObject): Promise<void> {
    this.countDown();
    return super.addVersion(object);
  }

  private countDown(): void {
    if (this.left === 0) throw new ArchiveUnavailableError('the process has ended');
    this.left -= 1;
  }
}

const createArchive = () => new ArchiveBucket(describeLocation(), 1, server.runtime.clock);

const deliver = (archive: ArchiveBucket = createArchive()): Promise<number> => {
  const { store, clock, logger } = server.runtime;
  return runJobOnce(createAuditArchiveJob({ store, archive, clock, logger }));
};

const signAll = async (): Promise<void> => {
  await waitForFollowers(server.store, 'audit_trail');
  await sign();
};

const listObjects = async (folder: string): Promise<readonly string[]> =>
  (await s3.listKeys(`${prefix}/${folder}/`)).map((key) => key.slice(prefix.length + folder.length + 2));

type ArchivedLine = {
  readonly index: number;
  readonly entry: unknown;
  readonly salt: string;
  readonly commitments: Readonly<Record<string, string>>;
};

const readLines = async (folder: string, key: string) => {
  const [first = '', ...rest] = (await s3.read(`${prefix}/${folder}/${key}`)).split('\n').slice(0, -1);
  const { checkpoint } = JSON.parse(first) as { checkpoint: string };
  return { checkpoint, lines: rest.map((line) => JSON.parse(line) as ArchivedLine) };
};

/** Verifies the entries of a log with nothing but its folder in the archive. */
const verifyFolder = async (folder: string) => {
  const readFile = async (path: string): Promise<Buffer> => {
    const { Body } = await s3.client.getObject({ Bucket: s3.bucket, Key: `${prefix}/${folder}/${path}` });
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  };
  const entries = (await listObjects(folder)).filter((key) => key.startsWith('entries/'));
  const chunks = async function* () {
    for (const key of entries) yield await readFile(key);
  };
  const [key = ''] = (await readFile('keys')).toString().split('\n');
  return verifyExport(chunks(), {
    keys: [parseVerifierKey(key)],
    log: (path) => readFile(path).catch(() => null),
  });
};

/** Verifies a copy of the folder of a log with the command, as the documentation does. Returns what it prints. */
const verifyCopy = async (folder: string): Promise<readonly string[]> => {
  const copy = await mkdtemp(join(tmpdir(), 'cadastre-archive-'));
  try {
    for (const key of await listObjects(folder)) {
      const { Body } = await s3.client.getObject({ Bucket: s3.bucket, Key: `${prefix}/${folder}/${key}` });
      await mkdir(dirname(join(copy, key)), { recursive: true });
      await writeFile(join(copy, key), (await Body?.transformToByteArray()) ?? '');
    }
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const { stdout } = spawn('sh', ['-c', 'cat entries/*/*/*/*.ndjson'], { cwd: copy });
    const options = { url: copy, key: [join(copy, 'keys')] };
    for (const [source, more] of [
      ['-', options],
      [copy, { key: options.key }],
    ] as const) {
      const { signal } = new AbortController();
      const sleep = () => Promise.resolve();
      const context = { print, printError: print, stdin: stdout, token: null, signal, sleep };
      await runVerify(source, more, context);
    }
    return lines;
  } finally {
    await rm(copy, { recursive: true });
  }
};

const computeLeafOf = ({ salt, entry, commitments }: ArchivedLine): Buffer =>
  computeLeaf({
    salt: Buffer.from(salt, 'base64'),
    entry,
    commitments: Object.fromEntries(
      Object.entries(commitments).map(([pointer, commitment]) => [pointer, Buffer.from(commitment, 'base64')]),
    ),
  });

const listLeaves = async (organization: string): Promise<readonly Buffer[]> =>
  (
    await server.database.rows<{ leaf: Buffer }>(
      sql`select leaf from audit_trail.leaves where organization = ${organization} order by index`,
    )
  ).map(({ leaf }) => leaf);

describe('the delivery of an audit trail to the archive', () => {
  let audited: AuditedOrganization;

  beforeAll(async () => {
    audited = await createAuditedOrganization(server, 'acme');
    await makeMember(server, 'acme', 'zoe-the-member');
  });

  it('contains each entry once, from which its leaf follows, with the checkpoint and the tiles of the log', async () => {
    await signAll();
    await deliver();
    const leaves = await listLeaves(audited.id);
    const objects = await listObjects(audited.id);
    const [entries = '', ...others] = objects.filter((key) => key.startsWith('entries/'));
    expect(others).toEqual([]);
    const last = String(leaves.length - 1).padStart(12, '0');
    expect(entries).toMatch(new RegExp(`^entries/\\d{4}/\\d\\d/\\d\\d/0{12}-${last}\\.ndjson$`));
    expect(objects.filter((key) => key !== entries)).toEqual([
      'checkpoint',
      `checkpoints/${String(leaves.length).padStart(12, '0')}`,
      'keys',
      `tile/0/000.p/${leaves.length}`,
      `tile/entries/000.p/${leaves.length}`,
    ]);
    const { checkpoint, lines } = await readLines(audited.id, entries);
    expect(lines.map(({ index }) => index)).toEqual(leaves.map((_, index) => index));
    expect(lines.map(computeLeafOf)).toEqual(leaves);
    expect(await s3.read(`${prefix}/${audited.id}/checkpoint`)).toBe(checkpoint);
    expect(await verifyFolder(audited.id)).toMatchObject({ entries: leaves.length, first: 0, absent: 0 });
  });

  it('contains no name, no client address and no user agent, and nothing that opens a commitment', async () => {
    await deliver();
    const key = (await listObjects(audited.id)).find((name) => name.startsWith('entries/')) ?? '';
    const text = await s3.read(`${prefix}/${audited.id}/${key}`);
    for (const personal of ['zoe-the-member', '127.0.0.1', 'node', '"description":"'])
      expect(text).not.toContain(personal);
    const { lines } = await readLines(audited.id, key);
    expect(lines.map((line) => (line as { salts?: unknown }).salts)).toEqual(lines.map(() => ({})));
    expect(lines.some(({ commitments }) => '/request/address' in commitments)).toBe(true);
  });

  it('locks every object', async () => {
    await deliver();
    for (const key of await s3.listKeys(prefix)) {
      const head = await s3.client.headObject({ Bucket: s3.bucket, Key: key });
      expect([key, head.ObjectLockMode]).toEqual([key, 'COMPLIANCE']);
    }
  });

  it('continues after what was delivered, and adds nothing without a new checkpoint', async () => {
    await deliver();
    const before = await listObjects(audited.id);
    expect(await deliver()).toBe(0);
    const size = (await listLeaves(audited.id)).length;
    await act(server, audited.workspace, 'lock');
    await act(server, audited.workspace, 'unlock');
    await signAll();
    await deliver();
    const added = (await listObjects(audited.id)).filter((key) => !before.includes(key));
    const [from, to] = [size, size + 1].map((index) => String(index).padStart(12, '0'));
    expect(added.filter((key) => key.startsWith('entries/'))).toEqual([
      expect.stringMatching(new RegExp(`/${from}-${to}\\.ndjson$`)),
    ]);
  });

  it('delivers the same objects, and none twice, whenever its process ends, also if entries are added meanwhile', async () => {
    await signAll();
    const size = (await listLeaves(audited.id)).length;
    let isComplete = false;
    for (let objects = 0; !isComplete; objects += 1) {
      prefix = randomUUID();
      await server.database.rows(sql`delete from audit_trail.archive_deliveries`);
      isComplete = await deliver(new EndingArchive(objects)).then(
        () => true,
        () => false,
      );
      await act(server, audited.workspace, objects % 2 === 0 ? 'lock' : 'unlock');
      await signAll();
      await deliver();
      await deliver();
      const names = (await listObjects(audited.id)).filter((key) => key.startsWith('entries/'));
      const ranges = names.map((name) => /(\d+)-(\d+)\.ndjson$/.exec(name)?.slice(1).map(Number) ?? []);
      expect(ranges[0]?.[0]).toBe(0);
      for (const [n, [from]] of ranges.slice(1).entries()) expect(from).toBe((ranges[n]?.[1] ?? 0) + 1);
      const { length } = await listLeaves(audited.id);
      expect(ranges.at(-1)?.[1]).toBe(length - 1);
      expect(await verifyFolder(audited.id)).toMatchObject({ entries: length, first: 0, absent: 0 });
    }
    expect((await listLeaves(audited.id)).length).toBeGreaterThan(size + 2);
  });

  it('continues under the same names if entries expire after its process has ended', async () => {
    // Then only the organization of this test has anything to deliver.
    await signAll();
    await deliver();
    const expiring = await createAuditedOrganization(server, `expiring-${randomUUID().slice(0, 8)}`);
    await waitForFollowers(server.store, 'audit_trail');
    const older = (await listLeaves(expiring.id)).length;
    clock.offsetMs += DAY_MS;
    await act(server, expiring.workspace, 'lock');
    await signAll();
    const { length } = await listLeaves(expiring.id);
    const deliverOnlyEntries = async (): Promise<readonly string[]> => {
      for (let objects = 1; (await listObjects(expiring.id)).length === 0; objects += 1)
        await deliver(new EndingArchive(objects)).catch(() => undefined);
      return listObjects(expiring.id);
    };
    const before = await deliverOnlyEntries();
    expect(before).toEqual([expect.stringMatching(/^entries\//)]);
    await server.database.rows(
      sql`delete from audit_trail_entries where organization = ${expiring.id} and ordinal <= ${older}`,
    );
    await deliver();
    const after = await listObjects(expiring.id);
    expect(after.filter((key) => key.startsWith('entries/'))).toEqual(before);
    expect(await verifyFolder(expiring.id)).toMatchObject({ entries: length, first: 0, absent: 0 });
  });

  it('ends an object of large entries at 8 MiB', async () => {
    const name = `large-${randomUUID().slice(0, 8)}`;
    const large = await createAuditedOrganization(server, name);
    await registerSource(server, name);
    const meta = { text: 'x'.repeat(60_000) };
    for (let first = 0; first < 150; first += 10) {
      const facts = Array.from({ length: 10 }, (_, n) => createFact(`large-${first + n}`, 'stack.create', meta));
      expectStatus(await server.post(`/api/v2/organizations/${name}/audit-facts`, { facts }), 201);
    }
    await signAll();
    await deliver();
    const keys = (await listObjects(large.id)).filter((key) => key.startsWith('entries/'));
    expect(keys).toHaveLength(2);
    const first = await s3.read(`${prefix}/${large.id}/${keys[0]}`);
    expect(first.length).toBeGreaterThan(8 * 1_024 * 1_024);
    expect(first.length).toBeLessThan(8 * 1_024 * 1_024 + 64 * 1_024 + 2_048);
    const { length } = await listLeaves(large.id);
    const printed = await verifyCopy(large.id);
    expect(printed.filter((line) => line === 'VERIFIED')).toHaveLength(2);
    expect(printed).toContain(`entries:     ${length}, from index 0 to ${length - 1}`);
    expect(printed).toContain(`tree:        all ${length} leaf hashes and the tiles above them`);
  });

  it('leaves out the log of the site', async () => {
    await signAll();
    // The log of the site is signed after the others.
    await sign();
    const [site] = await server.database.rows<{ size: number }>(
      sql`select size from audit_trail.signed_checkpoints where organization = 'site' limit 1`,
    );
    expect(site?.size).toBeGreaterThan(0);
    await deliver();
    expect(await listObjects('audit-trail-log')).toEqual([]);
  });

  it('stops for a log whose next object has other content, and delivers the other logs', async () => {
    const other = await createAuditedOrganization(server, `other-${randomUUID().slice(0, 8)}`);
    await signAll();
    const leaves = await listLeaves(audited.id);
    await deliver();
    const key = (await listObjects(audited.id)).find((name) => name.startsWith('entries/')) ?? '';
    prefix = randomUUID();
    await server.database.rows(sql`delete from audit_trail.archive_deliveries`);
    const forged = { key: `${audited.id}/${key}`, content: Buffer.from('forged'), mediaType: 'text/plain' };
    await createArchive().add(forged);
    await expect(deliver()).rejects.toThrow(`the archive has an object ${forged.key} with other content`);
    expect(await listObjects(audited.id)).toEqual([key]);
    expect(await listObjects(other.id)).toContain('checkpoint');
    const [row] = await server.database.rows<{ delivered: number }>(
      sql`select delivered from audit_trail.archive_deliveries where organization = ${audited.id}`,
    );
    expect(row?.delivered).toBe(0);
    expect(leaves.length).toBeGreaterThan(0);
  });

  it('gives up a plan whose checkpoint no longer exists', async () => {
    await signAll();
    await deliver(new EndingArchive(0)).catch(() => undefined);
    await server.database.rows(sql`update audit_trail.archive_deliveries set planned = 2, planned_size = 1000000`);
    await deliver();
    expect(await verifyFolder(audited.id)).toMatchObject({ first: 0, absent: 0 });
  });

  it('stops for a log with an altered entry, and delivers the other logs', async () => {
    const altered = await createAuditedOrganization(server, `altered-${randomUUID().slice(0, 8)}`);
    await signAll();
    await server.database.rows(
      sql`update audit_trail_entries set action = 'forged' where organization = ${altered.id} and ordinal = 2`,
    );
    await expect(deliver()).rejects.toThrow(`the log of the audit trail of ${altered.id} differs at index 1`);
    expect(await listObjects(altered.id)).toEqual([]);
    expect(await listObjects(audited.id)).toContain('checkpoint');
  });
});
