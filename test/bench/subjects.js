// The product with something in it, and what a run of requests costs it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Product } from './product.js';
import { wrk } from './wrk.js';

const WORKSPACES = 200;
export const ORGANIZATION = 'bench';
/** New workspaces go elsewhere, so that the list stays what it is. */
const NURSERY = 'bench-nursery';

const resource = (type, attributes, relationships) => ({ data: { type, attributes, relationships } });

const seed = async (product) => {
  for (const name of [ORGANIZATION, NURSERY]) {
    await product.request('POST', '/api/v2/organizations', resource('organizations', { name, email: 'a@bench.test' }));
  }
  const ids = [];
  const make = async (n) => {
    const body = resource('workspaces', {
      name: `workspace-${String(n).padStart(4, '0')}`,
      description: `number ${n}`,
    });
    const made = await product.request('POST', `/api/v2/organizations/${ORGANIZATION}/workspaces`, body);
    ids[n] = JSON.parse(made).data.id;
  };
  for (let n = 0; n < WORKSPACES; n += 10) await Promise.all(Array.from({ length: 10 }, (_, more) => make(n + more)));
  return ids;
};

/** What a run of locks has left locked, and what it still had under way when it ended. */
const unlockAll = async (product) => {
  for (let page = 1; page <= WORKSPACES / 100; page += 1) {
    const path = `/api/v2/organizations/${ORGANIZATION}/workspaces?page%5Bsize%5D=100&page%5Bnumber%5D=${page}`;
    const { data } = JSON.parse(await product.request('GET', path));
    const locked = data.filter(({ attributes }) => attributes.locked);
    await Promise.all(locked.map(({ id }) => product.request('POST', `/api/v2/workspaces/${id}/actions/force-unlock`)));
  }
};

export const openSubject = async (name, project, folder) => {
  const product = await Product.of(project);
  try {
    await product.start();
    const ids = await seed(product);
    const idsFile = join(folder, `${name}.ids`);
    await writeFile(idsFile, `${ids.join('\n')}\n`);
    return { name, product, ids, idsFile };
  } catch (error) {
    await product.remove();
    throw error;
  }
};

export const measure = async ({ product, ids, idsFile }, mode, connections, seconds) => {
  const organization = mode === 'create' ? NURSERY : ORGANIZATION;
  const before = await product.cpuWhenQuiet();
  const { url, token } = product;
  const run = await wrk({ url, token, mode, connections, seconds, idsFile, ids, organization });
  const after = await product.cpuWhenQuiet();
  if (mode === 'lock') await unlockAll(product);
  const node = (after.node - before.node) / run.requests;
  const postgres = (after.postgres - before.postgres) / run.requests;
  return { rate: run.requests / run.seconds, p50: run.p50, p99: run.p99, errors: run.errors, node, postgres };
};
