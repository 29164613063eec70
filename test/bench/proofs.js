// Proofs of entries in a long log: what one takes, for entries that were pruned and for the newest ones.
import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { figure } from './figures.js';
import { query, seedTrail } from './filled-trail.js';
import { Product } from './product.js';
import { ORGANIZATION } from './subjects.js';
import { median, percentile } from './statistics.js';
import { table, verdict } from './table.js';

const PROOF_MS = 5;
const TILE_WIDTH = 256;
const TILES_PER_INSERT = 250;
/** The entries with ids, behind those that were pruned. */
const RETAINED = 1_000;
/** So many proofs of each round are also verified. */
const VERIFIED = 20;
const WARMING = 300;
const POLL_MS = 200;
const LOG = `/api/v2/organizations/${ORGANIZATION}/audit-trail-log`;

const importBuilt = ({ build }, module) => import(pathToFileURL(join(build, 'dist/libs', module)).href);

/** Removes what was signed, as if the product had never run between the seed and now. */
const removeSignatures = async (product) => {
  for (const name of ['signed_checkpoints', 'log_keys', 'site_leaves', 'tiles', 'unsigned_logs'])
    await query(product, `delete from audit_trail.${name}`);
  await rm(join(product.dataFolder, 'blobs/trail-checkpoints'), { recursive: true, force: true });
};

/** Gives the trail this number of entries before all others, which are expired and pruned. */
const moveEntries = (product, organization, pruned) =>
  query(
    product,
    `do $$ begin
       perform set_config('session_replication_role', 'replica', true);
       update audit_trail.logs set pruned = ${pruned} where organization = '${organization}';
       update audit_trail.leaves set index = -1 - index where organization = '${organization}';
       update audit_trail.leaves set index = ${pruned} - 1 - index where organization = '${organization}';
       update views.audit_trail_entries set ordinal = -ordinal where organization = '${organization}';
       update views.audit_trail_entries set ordinal = ${pruned} - ordinal where organization = '${organization}';
       update views.audit_trails set length = length + ${pruned} where organization = '${organization}';
     end $$`,
  );

const insertTiles = async (product, organization, tiles) => {
  const columns = ['level', 'index', 'hashes', 'root'].map((name) => tiles.map((tile) => tile[name]));
  await query(
    product,
    `insert into audit_trail.tiles (organization, level, index, hashes, root)
     select $1, * from unnest($2::smallint[], $3::bigint[], $4::bytea[], $5::bytea[])`,
    [organization, ...columns],
  );
};

/** Returns what stands for the leaf of a pruned entry. */
const toLeaf = (index) => hash('sha256', String(index), 'buffer');

/** Inserts the tiles of this number of leaves, a multiple of the width of a tile. */
const fillLog = async (product, organization, leaves) => {
  const { RightEdge } = await importBuilt(product, 'activity/audit-trail-log/tiles/right-edge.js');
  const edge = new RightEdge(0, []);
  for (let index = 0; index < leaves; index += 1) {
    edge.append(toLeaf(index));
    if (edge.completed.length < TILES_PER_INSERT) continue;
    await insertTiles(product, organization, edge.completed.splice(0));
  }
  await insertTiles(product, organization, edge.completed);
};

const readText = async (product, token, path) => {
  const answer = await fetch(`${product.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}: ${text}`);
  return text;
};

/** Waits until checkpoints cover all logs, so that the product signs nothing while the tables change. */
const waitForSignatures = async (product) => {
  const isSigned = `exists (select from audit_trail.signed_checkpoints where organization = 'site')
                    and not exists (select from audit_trail.unsigned_logs)`;
  while (!(await query(product, `select ${isSigned} as signed`))[0].signed)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
};

/** Waits until a checkpoint covers the log. */
const waitForCheckpoint = async (product, token, size) => {
  for (;;) {
    const note = await readText(product, token, `${LOG}/checkpoint`).catch(() => '');
    if (Number(note.split('\n')[1]) >= size) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/**
 * Reads proofs one after the other, and verifies the first ones. `draw` returns the path of a proof, and what proves to be in the
 * log. Returns the ms of each request.
 */
const measureProofs = async (product, token, { requests, draw, verify }) => {
  const times = [];
  for (let n = 0; n < requests; n += 1) {
    const { path, entry } = draw();
    const began = performance.now();
    const proof = await readText(product, token, path);
    times.push(performance.now() - began);
    if (entry && n < VERIFIED) verify(proof, entry);
  }
  return times;
};

/** Returns a function that throws unless a proof shows that the entry is in the log. */
const createVerifier = async (product, token) => {
  const { parseVerifierKey, verifyProof } = await importBuilt(product, 'packages/trail-verifier/index.js');
  const keys = (await readText(product, token, `${LOG}/keys`)).trim().split('\n').map(parseVerifierKey);
  return (proof, entry) => verifyProof(proof, { keys, entry });
};

const drawFrom = (list) => list[Math.floor(Math.random() * list.length)];

const createCases = async (product, token, pruned) => {
  const page = `/api/v2/organization/audit-trail?page%5Bsize%5D=${RETAINED}`;
  const newest = JSON.parse(await readText(product, token, page)).data;
  return {
    // Two short statements: what the machine needs for any request.
    'checkpoint, for comparison': () => ({ path: `${LOG}/checkpoint`, entry: null }),
    'proof of a pruned entry': () => {
      const index = Math.floor(Math.random() * pruned);
      return { path: `${LOG}/entries/${index}/proof`, entry: toLeaf(index) };
    },
    'proof of an entry': () => {
      const entry = drawFrom(newest);
      return { path: `${LOG}/entries/${entry.id}/proof`, entry: Buffer.from(JSON.stringify(entry)) };
    },
  };
};

const measure = async (product, token, { pruned, requests, rounds }) => {
  const verify = await createVerifier(product, token);
  const [figures, rows] = [[], []];
  for (const [name, draw] of Object.entries(await createCases(product, token, pruned))) {
    await measureProofs(product, token, { requests: WARMING, draw, verify });
    const times = [];
    for (let round = 0; round < rounds; round += 1)
      times.push(await measureProofs(product, token, { requests, draw, verify }));
    for (const [metric, share, bound] of [
      ['p50', 0.5, null],
      ['p99', 0.99, PROOF_MS],
    ]) {
      const budget = name.startsWith('proof') ? bound : null;
      const values = times.map((one) => percentile(one, share));
      const isKept = budget === null ? ['', ''] : [`≤ ${budget}`, verdict(median(values) <= budget)];
      figures.push(figure('proofs', name, `log of ${pruned}`, metric, values, { unit: 'ms', better: 'lower', budget }));
      rows.push([name, metric, ...values.map((value) => value.toFixed(2)), ...isKept]);
    }
  }
  const header = ['proof', 'ms', ...Array.from({ length: rounds }, (_, n) => `round ${n + 1}`), 'bound', ''];
  process.stdout.write(`${table(header, rows)}\n`);
  return figures;
};

export const proofs = async ({ entries, requests, rounds }) => {
  const pruned = Math.ceil(entries / TILE_WIDTH) * TILE_WIDTH;
  const product = await Product.of();
  try {
    const { token } = await seedTrail(product, RETAINED);
    await waitForSignatures(product);
    const [{ organization, leaves }] = await query(
      product,
      'select organization, count(*)::int as leaves from audit_trail.leaves group by 1 order by 2 desc limit 1',
    );
    await removeSignatures(product);
    await moveEntries(product, organization, pruned);
    await fillLog(product, organization, pruned);
    await query(product, `insert into audit_trail.unsigned_logs (organization, since) values ($1, now())`, [
      organization,
    ]);
    await query(product, 'analyze');
    await product.stop();
    await product.start();
    await waitForCheckpoint(product, token, pruned + leaves);
    return await measure(product, token, { pruned, requests, rounds });
  } finally {
    await product.remove();
  }
};
