// A product with data, and the cost of a run of requests.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Product } from './product.js';
import { wrk } from './wrk.js';

/** Number of workspaces in the organization that is listed. */
const LISTED = 200;
/** With fewer, an unlock can overtake its lock among 64 concurrent requests, and both get status 409. */
const WORKSPACES = 1_000;
export const ORGANIZATION = 'bench';
/** New workspaces are created in another organization, so that the list stays the same. */
const NURSERY = 'bench-nursery';

const resource = (type, attributes, relationships) => ({ data: { type, attributes, relationships } });

const seedFew = async (product) => {
  for (const name of [ORGANIZATION, NURSERY]) {
    await product.request('POST', '/api/v2/organizations', resource('organizations', { name, email: 'a@bench.test' }));
  }
  const ids = [];
  const make = async (n) => {
    const body = resource('workspaces', {
      name: `workspace-${String(n).padStart(4, '0')}`,
      description: `number ${n}`,
    });
    const organization = n < LISTED ? ORGANIZATION : NURSERY;
    const created = await product.request('POST', `/api/v2/organizations/${organization}/workspaces`, body);
    ids[n] = JSON.parse(created).data.id;
  };
  for (let n = 0; n < WORKSPACES; n += 10) await Promise.all(Array.from({ length: 10 }, (_, more) => make(n + more)));
  return { ids, nursery: NURSERY };
};

/** Returns the ids of the workspaces that match an SQL condition. */
export const idsWhere = async (product, condition) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  try {
    return (await client.query(`select id from views.workspaces where ${condition}`)).rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
};

/** Processes ten at a time. */
export const forEach = async (ids, work) => {
  for (let n = 0; n < ids.length; n += 10) await Promise.all(ids.slice(n, n + 10).map(work));
};

/** Unlocks all workspaces that a run of locks has left locked. */
const unlockAll = async (product) => {
  const locked = await idsWhere(product, 'lock is not null');
  await forEach(locked, (id) => product.request('POST', `/api/v2/workspaces/${id}/actions/force-unlock`));
};

/**
 * `seed` fills the product. It returns the ids of the workspaces, their project, and the organization for new
 * workspaces.
 */
export const openSubject = async (name, project, folder, seed = seedFew) => {
  const product = await Product.of(project);
  try {
    await product.start();
    const { ids, nursery, project: home } = await seed(product);
    const idsFile = join(folder, `${name}.ids`);
    await writeFile(idsFile, `${ids.join('\n')}\n`);
    return { name, product, ids, idsFile, nursery, home };
  } catch (error) {
    await product.remove();
    throw error;
  }
};

export const measure = async ({ product, ids, idsFile, nursery, home }, mode, connections, seconds) => {
  const organization = mode === 'create' ? nursery : ORGANIZATION;
  const before = await product.cpuWhenQuiet();
  const { url, token } = product;
  const run = await wrk({ url, token, mode, connections, seconds, idsFile, ids, organization, project: home });
  const after = await product.cpuWhenQuiet();
  if (mode === 'lock') await unlockAll(product);
  const node = (after.node - before.node) / run.requests;
  const postgres = (after.postgres - before.postgres) / run.requests;
  return { rate: run.requests / run.seconds, p50: run.p50, p99: run.p99, errors: run.errors, node, postgres };
};
