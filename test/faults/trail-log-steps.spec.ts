import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import {
  openCheckpoint,
  openLog,
  parseVerifierKey,
  TILE_WIDTH,
  verifyLog,
  verifyProof,
  type OpenedCheckpoint,
  type VerifierKey,
} from '#packages/trail-verifier';
import { startFaultyProxy, type FaultyProxy } from '../support/faulty-proxy.js';
import { DATA } from '../support/folders.js';
import { INSTALL_LITEWITNESS_TIMEOUT_MS, startLitewitness, type Litewitness } from '../support/litewitness.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization, makeOrganizationToken, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';
import { startTimeStampAuthority, type TestTimeStampAuthority } from '../support/time-stamp-authority.js';
import { ORGANIZATION_LOG, RECOVERY_MS, ServedLogs, SITE_LOG, type KeptProof } from './served-logs.js';
import { startStatementProxy, type StatementPoint, type StatementProxy } from './statement-proxy.js';

const LONG = 900_000;

let site: string;
let postgres: EmbeddedPostgres;
let database: StatementProxy;
let witness: Litewitness;
let authority: TestTimeStampAuthority;
let witnessProxy: FaultyProxy;
let authorityProxy: FaultyProxy;
let gateway: Product;
let api: ApiTestClient;
let logs: ServedLogs;
let organization: string;
let keys: readonly VerifierKey[];
let siteKeys: readonly VerifierKey[];
let first: KeptProof;
const products: Product[] = [];
/** Projectors with the settings that the steps need. */
let projectors: Readonly<Record<'plain' | 'witnessed' | 'stamped', Product>>;
const notes: OpenedCheckpoint[] = [];
const siteNotes: OpenedCheckpoint[] = [];

const launch = async (settings: Readonly<Record<string, string>>): Promise<Product> => {
  const product = await launchProduct(settings);
  products.push(product);
  return product;
};

/** Keeps what readers, and the file store before them, got. */
const keepCheckpoints = async (): Promise<void> => {
  for (const [log, checkpoints, name, logKeys] of [
    [ORGANIZATION_LOG, notes, organization, keys],
    [SITE_LOG, siteNotes, 'site', siteKeys],
  ] as const) {
    const served = await logs.readCheckpoint(log, logKeys);
    const published = await readFile(join(site, 'data/blobs/trail-checkpoints', name), 'utf8');
    checkpoints.push(...(served ? [served] : []), openCheckpoint(published, logKeys));
  }
};

beforeAll(async () => {
  site = await mkdtemp(join(DATA, 'cadastre-trail-steps-'));
  const encryptionKey = await copyPreparedPostgres(site);
  postgres = await startEmbeddedPostgres({ folder: join(site, 'postgres'), logger: quiet });
  database = await startStatementProxy(postgres.url);
  const settings = {
    DATABASE_URL: postgres.url,
    CADASTRE_ENCRYPTION_KEY: encryptionKey,
    CADASTRE_PUBLIC_URL: 'http://localhost:8443',
    CADASTRE_DATA: join(site, 'data'),
    CADASTRE_ADMIN_TOKEN: 'test.atlasv1.the-token-of-the-administrator-of-this-test',
  };
  gateway = await launch(settings);
  await gateway.start('gateway');
  api = createApiTestClient(gateway.url, gateway.adminToken);
  ({ id: organization } = await makeOrganization(api, 'acme'));
  logs = new ServedLogs({ url: gateway.url, token: await makeOrganizationToken(api, 'acme') });
  const unwatched = await launch(settings);
  await unwatched.start('projector');
  await waitUntil(async () => (await logs.readKeys(SITE_LOG)).length > 0, 'the log of the site is signed');
  keys = (await logs.readKeys(ORGANIZATION_LOG)).map(parseVerifierKey);
  const [siteKey = ''] = await logs.readKeys(SITE_LOG);
  siteKeys = [parseVerifierKey(siteKey)];
  first = await logs.readProof((await logs.listNewestEntries()).at(-1) ?? { id: '' });
  await unwatched.stop();
  await keepCheckpoints();

  witness = await startLitewitness({ [parseVerifierKey(siteKey).name]: siteKey });
  witnessProxy = await startFaultyProxy();
  witnessProxy.lead(witness.url);
  authority = await startTimeStampAuthority();
  authorityProxy = await startFaultyProxy();
  authorityProxy.lead(new URL(authority.url).origin);
  const policy = join(site, 'policy');
  await writeFile(policy, `witness one ${witness.verifierKey} ${witnessProxy.url}\nquorum one\n`);
  const plain = { ...settings, DATABASE_URL: database.url };
  const witnessed = { ...plain, CADASTRE_TRAIL_WITNESSES: policy };
  const stamped = {
    ...witnessed,
    CADASTRE_TIME_STAMP_URL: `${authorityProxy.url}${new URL(authority.url).pathname}`,
    CADASTRE_TIME_STAMP_CA: authority.caFile,
  };
  projectors = { plain: await launch(plain), witnessed: await launch(witnessed), stamped: await launch(stamped) };
}, 2 * INSTALL_LITEWITNESS_TIMEOUT_MS);

afterAll(async () => {
  for (const product of products) await product.remove();
  for (const proxy of [witnessProxy, authorityProxy, database]) await proxy?.close();
  await witness?.remove();
  await authority?.close();
  await postgres?.stop();
  await rm(site, { recursive: true, force: true });
});

/**
 * Starts a projector, and kills it when it reaches a point. `arrange` calls its first argument at the point, and the second if
 * the point cannot be reached.
 */
const killAt = async (
  projector: Product,
  arrange: (reach: () => Promise<void>, fail: (error: unknown) => void) => void,
): Promise<void> => {
  let isReached = false;
  let failure: unknown;
  const started: { process: ReturnType<Product['spawn']> | null } = { process: null };
  const reach = async (): Promise<void> => {
    started.process?.kill('SIGKILL');
    isReached = true;
    await started.process?.ended;
  };
  arrange(reach, (error) => (failure = error));
  started.process = projector.spawn('projector');
  const isOver = (): boolean => isReached || failure !== undefined;
  await waitUntil(isOver, 'the projector reaches the step', RECOVERY_MS);
  expect(failure).toBeUndefined();
  expect(await started.process.ended).toMatchObject({ signal: 'SIGKILL' });
};

const killAtStatement = (projector: Product, point: StatementPoint): Promise<void> =>
  killAt(projector, (reach) => database.stopAt(point, () => void reach()));

const countPosts = ({ passed }: FaultyProxy): number => passed.filter(({ method }) => method === 'POST').length;

/** Kills the projector before the service gets its request, or after the service has answered and before the answer arrives. */
const killAtRequest = async (projector: Product, proxy: FaultyProxy, side: 'before' | 'after'): Promise<void> => {
  await killAt(projector, (reach, fail) =>
    proxy.trouble(async ({ method }) => {
      if (method !== 'POST') return null;
      if (side === 'before') {
        await reach();
        return { cut: true };
      }
      const passed = countPosts(proxy);
      void waitUntil(() => countPosts(proxy) > passed, 'the service answers')
        .then(reach)
        .catch(fail);
      return { swallow: true };
    }),
  );
  proxy.trouble(() => null);
};

type LogStep = {
  readonly projector: keyof typeof projectors;
  readonly statement: RegExp;
  /** What the statement stores. */
  readonly rows: string;
};

const STEPS = {
  'a leaf': { projector: 'plain', statement: /insert into audit_trail\.leaves/, rows: 'leaves' },
  'a tile': { projector: 'plain', statement: /insert into audit_trail\.tiles/, rows: 'tiles' },
  'a checkpoint': {
    projector: 'plain',
    statement: /with signed as \(/,
    rows: `signed_checkpoints where organization <> 'site'`,
  },
  'a checkpoint of the log of the site': {
    projector: 'plain',
    statement: /(?<!with signed as \(\s*)insert into audit_trail\.signed_checkpoints/,
    rows: `signed_checkpoints where organization = 'site'`,
  },
  'a cosignature': {
    projector: 'witnessed',
    statement: /set note = note \|\|/,
    rows: `signed_checkpoints where note like '%— witness.example %'`,
  },
  'a time stamp': { projector: 'stamped', statement: /insert into audit_trail\.time_stamps/, rows: 'time_stamps' },
} as const satisfies Record<string, LogStep>;
const SIDES = ['before', 'after'] as const;
type LogStepName = keyof typeof STEPS;

const countRows = async (step: LogStepName): Promise<number> => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from audit_trail.${STEPS[step].rows}`,
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
};

let workspaces = 0;
const addEntries = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await makeWorkspace(api, 'acme', `workspace-${(workspaces += 1)}`);
};

/** Returns how many rows the step has stored before the process died. */
const killAtStep = async (step: LogStepName, side: 'before' | 'after'): Promise<number> => {
  // A step needs an entry that is not signed yet, and a tile needs as many as it has hashes.
  await addEntries(step === 'a tile' && side === 'before' ? TILE_WIDTH : 1);
  const { projector, statement } = STEPS[step];
  const before = await countRows(step);
  await killAtStatement(projectors[projector], { side, statement });
  await keepCheckpoints();
  return (await countRows(step)) - before;
};

/** Returns how many answers of the service were stored. */
const killAtService = async (
  step: 'a cosignature' | 'a time stamp',
  proxy: FaultyProxy,
  side: 'before' | 'after',
): Promise<number> => {
  await addEntries(1);
  const before = await countRows(step);
  await killAtRequest(projectors[STEPS[step].projector], proxy, side);
  await keepCheckpoints();
  return (await countRows(step)) - before;
};

/** Each test continues where the process of the one before has died. */
describe('kill -9 of a projector at a step of the log', () => {
  const stepsOf = (...names: readonly LogStepName[]) =>
    names.flatMap((name) => SIDES.map((side) => [side, name] as const));

  const expectStored = async (side: 'before' | 'after', stored: Promise<number>): Promise<void> => {
    if (side === 'before') expect(await stored).toBe(0);
    else expect(await stored).toBeGreaterThan(0);
  };

  it.each(stepsOf('a leaf', 'a tile', 'a checkpoint', 'a checkpoint of the log of the site'))(
    '%s Postgres has stored %s',
    (side, step) => expectStored(side, killAtStep(step, side)),
    LONG,
  );

  it.each(SIDES)(
    '%s a witness has answered',
    async (side) => expect(await killAtService('a cosignature', witnessProxy, side)).toBe(0),
    LONG,
  );

  it.each(stepsOf('a cosignature'))(
    '%s Postgres has stored %s',
    (side, step) => expectStored(side, killAtStep(step, side)),
    LONG,
  );

  it.each(SIDES)(
    '%s an authority has answered',
    async (side) => expect(await killAtService('a time stamp', authorityProxy, side)).toBe(0),
    LONG,
  );

  it.each(stepsOf('a time stamp'))(
    '%s Postgres has stored %s',
    (side, step) => expectStored(side, killAtStep(step, side)),
    LONG,
  );

  it(
    'leaves one history that contains every checkpoint, also those that only the file store had',
    async () => {
      await projectors.stamped.start('projector');
      const newest = await logs.readProof((await logs.listNewestEntries())[0] ?? { id: '' });
      await keepCheckpoints();
      const largest = Math.max(...siteNotes.map(({ size }) => size));
      // Readers get the newest checkpoint that the witness has cosigned.
      const isCosigned = async (): Promise<boolean> => {
        const note = (await logs.read(`${SITE_LOG}/checkpoint`))?.toString() ?? '';
        return note.includes('\n— witness.example ') && openCheckpoint(note, siteKeys).size >= largest;
      };
      await waitUntil(isCosigned, 'the witness has cosigned the log of the site', RECOVERY_MS);
      for (const { proof, entry } of [first, newest]) verifyProof(proof, { keys, entry });
      for (const [log, list, logKeys] of [
        [ORGANIZATION_LOG, notes, keys],
        [SITE_LOG, siteNotes, siteKeys],
      ] as const) {
        expect(new Set(list.map(({ origin }) => origin)).size).toBe(1);
        const folder = join(site, 'copy');
        await logs.copyLog(log, folder);
        for (const since of list) await verifyLog(openLog(folder, null), { keys: logKeys, since });
      }
      const stamps = await logs.read(`${SITE_LOG}/time-stamps`);
      expect((JSON.parse(String(stamps)) as { data: readonly unknown[] }).data).toHaveLength(1);
      expect(await gateway.run('verify')).toMatchObject({ code: 0 });
    },
    LONG,
  );
});
