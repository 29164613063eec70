import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import { openLog, parseVerifierKey, verifyLog, verifyProof, type OpenedCheckpoint } from '#packages/trail-verifier';
import { DATA } from '../support/folders.js';
import { buildForeignVerifiers, succeeds, type ForeignVerifiers } from '../support/foreign-verifiers.js';
import { INSTALL_LITEWITNESS_TIMEOUT_MS, startLitewitness, type Litewitness } from '../support/litewitness.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { contentOf, launchProduct, waitUntil, type Product } from '../support/product.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { quiet } from '../support/silent-logger.js';
import { startBackgroundLoad, type BackgroundLoad } from './background-load.js';
import { keepRunning, type KeptProcess } from './kept-process.js';
import {
  ORGANIZATION_LOG,
  RECOVERY_MS,
  ServedLogs,
  SITE_LOG,
  type KeptProof,
  type ServedEntry,
} from './served-logs.js';

/** The number of targets in `npm test`. */
const KILLS = countRounds(4);
const LONG = scaleLimit(900_000);
const LOG = ORGANIZATION_LOG;

let site: string;
let postgres: EmbeddedPostgres;
let settings: Readonly<Record<string, string>>;
let gateway: Product;
let witness: Litewitness;
let verifiers: ForeignVerifiers;
let logs: ServedLogs;
let work: BackgroundLoad;
let gate = Promise.withResolvers<void>();
const products: Product[] = [];
const projectors: KeptProcess[] = [];

/** All processes have the same file store. */
const launch = async (): Promise<Product> => {
  const product = await launchProduct(settings);
  products.push(product);
  return product;
};

/** Returns which programs verify the copy of the log. */
const verifyCopy = async (folder: string, key: string) => {
  const keyFile = join(site, 'log.vkey');
  await writeFile(keyFile, key);
  const own = verifyLog(openLog(folder, null), { keys: [parseVerifierKey(key)] }).then(
    () => true,
    () => false,
  );
  const url = `--storage_url=file://${folder}/`;
  const [cadastre, libraries, fsck] = await Promise.all([
    own,
    succeeds(verifiers.libraries, 'log', folder, key),
    succeeds(verifiers.fsck, url, `--public_key=${keyFile}`, '--ui=false', '--N=2'),
  ]);
  return { cadastre, libraries, fsck };
};

const killPostgres = (): void => {
  const [pid = ''] = contentOf(join(site, 'postgres/cluster/postmaster.pid')).split('\n');
  process.kill(Number.parseInt(pid, 10), 'SIGKILL');
};

const killGateway = async (): Promise<void> => {
  gate = Promise.withResolvers<void>();
  await gateway.kill();
  await gateway.start('gateway');
  gate.resolve();
};

beforeAll(async () => {
  site = await mkdtemp(join(DATA, 'cadastre-trail-log-'));
  verifiers = await buildForeignVerifiers();
  const encryptionKey = await copyPreparedPostgres(site);
  postgres = await startEmbeddedPostgres({ folder: join(site, 'postgres'), logger: quiet });
  const policy = join(site, 'policy');
  settings = {
    DATABASE_URL: postgres.url,
    CADASTRE_ENCRYPTION_KEY: encryptionKey,
    CADASTRE_PUBLIC_URL: 'http://localhost:8443',
    CADASTRE_DATA: join(site, 'data'),
    CADASTRE_ADMIN_TOKEN: 'test.atlasv1.the-token-of-the-administrator-of-this-test',
  };
  gateway = await launch();
  await gateway.start('gateway');
  gate.resolve();
  work = await startBackgroundLoad(
    gateway,
    () => Promise.resolve(postgres.url),
    () => gate.promise,
  );
  logs = new ServedLogs({ url: gateway.url, token: work.trailToken });
  // The keys of the log of the site exist once a projector has signed it.
  const first = await launch();
  await first.start('projector');
  await waitUntil(async () => (await logs.readKeys(SITE_LOG)).length > 0, 'the log of the site is signed');
  const [key = ''] = await logs.readKeys(SITE_LOG);
  witness = await startLitewitness({ [parseVerifierKey(key).name]: key });
  await writeFile(policy, `witness one ${witness.verifierKey} ${witness.url}\nquorum one\n`);
  await first.stop();
  settings = { ...settings, CADASTRE_TRAIL_WITNESSES: policy };
  for (let count = 0; count < 2; count += 1) {
    const product = await launch();
    projectors.push(keepRunning(() => product.spawn('projector')));
  }
}, 2 * INSTALL_LITEWITNESS_TIMEOUT_MS);

afterAll(async () => {
  for (const projector of projectors) await projector.stop();
  for (const product of products) await product.remove();
  await witness?.remove();
  await postgres?.stop();
  await rm(site, { recursive: true, force: true });
});

describe('kill -9 of a gateway, of two projectors and of Postgres, while the log grows', () => {
  it(
    'leaves one history: every checkpoint and every proof that was served holds',
    async () => {
      const keys = (await logs.readKeys(LOG)).map(parseVerifierKey);
      const siteKeys = (await logs.readKeys(SITE_LOG)).map(parseVerifierKey);
      const notes: OpenedCheckpoint[] = [];
      const siteNotes: OpenedCheckpoint[] = [];
      const entries: ServedEntry[] = [];
      const proofs: KeptProof[] = [];
      const keep = async (): Promise<void> => {
        const [checkpoint, ofSite] = [
          await logs.readCheckpoint(LOG, keys),
          await logs.readCheckpoint(SITE_LOG, siteKeys),
        ];
        if (checkpoint) notes.push(checkpoint);
        if (ofSite) siteNotes.push(ofSite);
        entries.push(...(await logs.listNewestEntries()).slice(-1));
        // Entries of the last seconds are in no checkpoint yet, so the later calls request their proofs again.
        for (const one of entries) {
          const { status, body } = await logs.request(`${LOG}/entries/${one.id}/proof`);
          if (status === 200) proofs.push({ proof: body.toString(), entry: Buffer.from(JSON.stringify(one)) });
        }
      };
      const kills = [
        killGateway,
        () => Promise.resolve(projectors[0]?.kill()),
        () => Promise.resolve(projectors[1]?.kill()),
        () => Promise.resolve(killPostgres()),
      ];
      await keep();
      for (let kill = 0; kill < KILLS; kill += 1) {
        await work.clients.acknowledged(randomInt(60, 150));
        await keep();
        await kills[kill % kills.length]?.();
      }
      await work.clients.acknowledged(30);
      await work.clients.stop();
      await keep();
      entries.push(...(await logs.listNewestEntries()).slice(0, 1));
      // Waits until a checkpoint covers all entries.
      for (const entry of entries) proofs.push(await logs.readProof(entry));

      expect(entries).toHaveLength(KILLS + 3);
      for (const { proof, entry } of proofs) verifyProof(proof, { keys, entry });
      for (const [log, list, logKeys] of [
        [LOG, notes, keys],
        [SITE_LOG, siteNotes, siteKeys],
      ] as const) {
        expect(new Set(list.map(({ origin }) => origin)).size).toBe(1);
        const folder = join(site, 'copy');
        await logs.copyLog(log, folder);
        for (const since of list) await verifyLog(openLog(folder, null), { keys: logKeys, since });
      }
      const verified = await gateway.run('verify');
      expect(verified).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/differ/i) as unknown });
      const isCosigned = async () =>
        (await logs.read(`${SITE_LOG}/checkpoint`))?.toString().includes('\n— witness.example ') ?? false;
      await waitUntil(isCosigned, 'the witness has cosigned the log of the site', RECOVERY_MS);
    },
    LONG,
  );
});

const runSql = async <T extends pg.QueryResultRow>(...statements: readonly string[]): Promise<readonly T[]> => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    let rows: readonly T[] = [];
    for (const statement of statements) ({ rows } = await client.query<T>(statement));
    return rows;
  } finally {
    await client.end();
  }
};

/** Runs a statement as an administrator of the database: no trigger stops it. */
const tamper = (statement: string) =>
  runSql("select set_config('session_replication_role', 'replica', false)", statement);

describe('tools of others, on the log of a product', () => {
  const ALL = { cadastre: true, libraries: true, fsck: true };
  const NONE = { cadastre: false, libraries: false, fsck: false };
  let folder: string;
  let key: string;

  const verify = async () => {
    await logs.copyLog(LOG, folder);
    return verifyCopy(folder, key);
  };

  beforeAll(async () => {
    folder = join(site, 'product-log');
    [key = ''] = await logs.readKeys(LOG);
    // Nobody repairs or signs what a test changes.
    for (const projector of projectors.splice(0)) await projector.stop();
    await runSql(
      'create table public.kept_tiles as select * from audit_trail.tiles',
      'create table public.kept_leaves as select * from audit_trail.leaves',
      'create table public.kept_checkpoints as select * from audit_trail.signed_checkpoints',
    );
  });

  it('verify the folder copy', async () => {
    expect(await verify()).toEqual(ALL);
  });

  it.each([
    [
      'flips a byte of a leaf',
      `update audit_trail.tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where level = 0 and index = 0`,
    ],
    [
      'moves an entry',
      `update audit_trail.tiles set hashes = substr(hashes, 33, 32) || substr(hashes, 1, 32) || substr(hashes, 65) where level = 0 and index = 0`,
    ],
    [
      'removes an entry',
      `update audit_trail.tiles set hashes = substr(hashes, 33) || substr(hashes, 1, 32) where level = 0 and index = 0`,
    ],
    [
      'replaces an entry that no complete tile contains',
      `update audit_trail.leaves set leaf = sha256('another') where index = (select max(index) from audit_trail.leaves)`,
    ],
    [
      'changes the size in the checkpoint',
      `update audit_trail.signed_checkpoints set note = regexp_replace(note, E'\\\\n\\\\d+\\\\n', E'\\n7\\n')`,
    ],
  ])('refuse it when the administrator of the database %s', async (_, statement) => {
    await tamper(statement);
    const verdicts = await verify();
    await tamper(`
      update audit_trail.tiles t set hashes = k.hashes from public.kept_tiles k
       where (t.organization, t.level, t.index) = (k.organization, k.level, k.index);
      update audit_trail.leaves l set leaf = k.leaf from public.kept_leaves k
       where (l.organization, l.index) = (k.organization, k.index);
      update audit_trail.signed_checkpoints c set note = k.note from public.kept_checkpoints k
       where (c.organization, c.origin, c.size) = (k.organization, k.origin, k.size)`);
    expect(verdicts).toEqual(NONE);
    expect(await verify()).toEqual(ALL);
  });

  it('refuse it with the key of another log', async () => {
    const [other = ''] = await logs.readKeys(SITE_LOG);
    await logs.copyLog(LOG, folder);
    expect(await verifyCopy(folder, other)).toEqual(NONE);
  });
});
