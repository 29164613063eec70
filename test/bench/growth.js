// The cost of a request in a large organization and in a small one. They take turns, so that other load on
// the machine affects all of them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { fold } from '#kernel';
import { PROJECT } from './product.js';
import { missingPrograms } from './programs.js';
import { medians } from './statistics.js';
import { CONTEXT, deciderOf, openStore } from './store.js';
import { forEach, idsWhere, measure, openSubject, ORGANIZATION } from './subjects.js';
import { table, verdict } from './table.js';

/** The CPU time of a request, as a multiple of that in the smallest organization, must not exceed this. */
const GROWTH = 1.3;

/** In the order of the measurements. Created workspaces are deleted again, but they leave dead rows. */
const CASES = {
  get: 'GET workspace',
  list: 'list of 20',
  tagged: 'list of 20, by tag',
  inherited: 'list of 20, by two inherited tags',
  named: 'list of 20, by part of name',
  lock: 'lock, unlock',
  patch: 'PATCH',
  bind: 'PATCH of a binding of the project',
  create: 'create',
};

/** All requests of these cases change the same project. Concurrent ones would wait for each other. */
const ONE_BY_ONE = ['bind'];

const A_TIME = 500;
/** The same number in every organization, so that the filtered lists return the same documents. */
const PICKED = 40;

const make = (product, path, type, attributes) =>
  product.request('POST', path, { data: { type, attributes } }).then((text) => JSON.parse(text).data);

/**
 * Copies a workspace that the API has created, many at a time. Separate requests for all workspaces would take minutes.
 */
export const grow = async (product, size) => {
  const workspace = deciderOf('ws');
  const { store, close } = await openStore(product, 1);
  const organization = { name: ORGANIZATION, email: 'a@bench.test' };
  await make(product, '/api/v2/organizations', 'organizations', organization);
  const path = `/api/v2/organizations/${ORGANIZATION}/workspaces`;
  const { id, relationships } = await make(product, path, 'workspaces', {
    name: 'model',
    description: 'the same for all',
  });
  const project = relationships.project.data.id;
  const bindings = Array.from({ length: 10 }, (_, n) => ({
    type: 'tag-bindings',
    attributes: { key: `key-${n}`, value: 'bound' },
  }));
  await product.request('PATCH', `/api/v2/projects/${project}/tag-bindings`, { data: bindings });
  try {
    const [model] = await store.stream(id);
    const ids = [id];
    const write = (n) => {
      const stream = `ws-grown${String(n).padStart(8, '0')}`;
      const picked = n % Math.ceil(size / PICKED) === 0;
      const name = `${picked ? 'picked' : 'network'}-${n % 7 === 0 ? 'prod' : 'test'}-${String(n).padStart(6, '0')}`;
      const tags = [
        { key: 'env', value: n % 7 === 0 ? 'prod' : 'test' },
        ...(picked ? [{ key: 'picked', value: null }] : []),
      ];
      const events = [{ type: model.type, data: { ...model.data, name, tags } }];
      const snapshot = { decider: workspace.version, state: fold(workspace, workspace.initial, events) };
      ids.push(stream);
      return { stream, organization: model.organization, expected: 0, events, snapshot };
    };
    while (ids.length < size) {
      const count = Math.min(A_TIME, size - ids.length);
      await store.append(
        Array.from({ length: count }, () => write(ids.length)),
        CONTEXT,
      );
      process.stderr.write(`\r${ids.length} of ${size} workspaces`);
    }
    process.stderr.write('\n');
    return { ids, nursery: ORGANIZATION, project };
  } finally {
    await close();
  }
};

/**
 * Waits until followers have processed all events, and updates the statistics that autovacuum would update a minute
 * later.
 */
const settle = async (product) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  try {
    await client.query('vacuum analyze');
    const behind = `
      select count(*)::int as n from event_store.checkpoints c
       where exists (select 1 from event_store.events e where (e.transaction, e.position) > (c.transaction, c.position))`;
    while ((await client.query(behind)).rows[0].n > 0) await delay(200);
  } finally {
    await client.end();
  }
};

const seedOf = (size) => async (product) => {
  const seeded = await grow(product, size);
  await settle(product);
  return seeded;
};

const removeCreated = async ({ product }) =>
  forEach(await idsWhere(product, `name like 'bench-%'`), (id) =>
    product.request('DELETE', `/api/v2/workspaces/${id}`),
  );

const takeTurns = async (subjects, { rounds, seconds, connections }) => {
  const results = new Map();
  const measureCase = async (mode, subject) => {
    const measured = await measure(subject, mode, ONE_BY_ONE.includes(mode) ? 1 : connections, seconds);
    if (mode === 'create') await removeCreated(subject);
    return measured;
  };
  for (const mode of Object.keys(CASES)) for (const subject of subjects) await measureCase(mode, subject);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const mode of Object.keys(CASES)) {
      for (const subject of order) {
        const key = `${mode} ${subject.name}`;
        results.set(key, [...(results.get(key) ?? []), await measureCase(mode, subject)]);
      }
    }
    process.stderr.write(`round ${round + 1} of ${rounds} completed\n`);
  }
  return results;
};

const HEADER = [
  'case',
  'workspaces',
  'req/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'node',
  'postgres',
  'CPU ms',
  'ratio',
  'budget',
  '',
];

const cpuOf = ({ node, postgres }) => node + postgres;

const rowsOf = (results, sizes) =>
  Object.entries(CASES).flatMap(([mode, title]) =>
    sizes.map((size) => {
      const measured = results.get(`${mode} ${size}`);
      const smallest = results.get(`${mode} ${sizes[0]}`);
      const { rate, p50, p99, node, postgres } = medians(measured);
      const { ratio } = medians(measured.map((each, n) => ({ ratio: cpuOf(each) / cpuOf(smallest[n]) })));
      const errors = measured.reduce((sum, each) => sum + each.errors, 0);
      const first = [title, size, rate.toFixed(0), p50.toFixed(2), p99.toFixed(2), errors];
      const compared = size === sizes[0] ? ['', '', ''] : [ratio.toFixed(2), `≤ ${GROWTH}`, verdict(ratio <= GROWTH)];
      return [...first, node.toFixed(3), postgres.toFixed(3), (node + postgres).toFixed(3), ...compared];
    }),
  );

const LEGEND = `
Medians. The ratio compares with the smallest organization in the same round. CPU of the server and its Postgres, including
followers. The requests for single workspaces use all workspaces in turn. The lists by tag and by name return the same few
workspaces in each organization. The list by two inherited tags returns all of them.
`;

export const growth = async ({ sizes, ...options }) => {
  const missing = missingPrograms('wrk');
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const subjects = [];
  try {
    for (const size of sizes) subjects.push(await openSubject(String(size), PROJECT, folder, seedOf(size)));
    const results = await takeTurns(subjects, options);
    process.stdout.write(`${table(HEADER, rowsOf(results, sizes))}\n${LEGEND}`);
    return [...results.values()].flat().every(({ errors }) => errors === 0);
  } finally {
    for (const { product } of subjects) await product.remove();
    await rm(folder, { recursive: true, force: true });
  }
};
