// A product with data, and the cost of a run of requests.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { readRefusals, subtractRefusals } from './metrics.js';
import { memoryOf } from './proc.js';
import { Product } from './product.js';
import { publishProvider } from './provider.js';
import { wrk } from './wrk.js';
import { openWriteCounter } from './writes.js';

/** Requests use this organization. New workspaces are created in the other, so that the lists stay the same. */
export const ORGANIZATION = 'bench-1';
const NURSERY = 'nursery-1';
/** At most this number of workspaces is requested one by one. */
const REQUESTED = 20_000;
const BYTES_PER_KB = 1_000;
const LONE_LOCKS = 40;

const queryRows = async (product, query, values) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  try {
    return (await client.query(query, values)).rows;
  } finally {
    await client.end();
  }
};

/** Returns the ids of the workspaces that match an SQL condition. */
export const idsWhere = async (product, condition) =>
  (await queryRows(product, `select id from views.workspaces where ${condition}`)).map(({ id }) => id);

/** Processes ten at a time. */
export const forEach = async (ids, work) => {
  for (let n = 0; n < ids.length; n += 10) await Promise.all(ids.slice(n, n + 10).map(work));
};

const createTrailToken = async (product) => {
  const data = { type: 'authentication-tokens', attributes: {} };
  const path = `/api/v2/organizations/${ORGANIZATION}/authentication-token`;
  return JSON.parse(await product.request('POST', path, { data })).data.attributes.token;
};

/** The token that a case needs: only tokens of the organization read its trail. */
export const tokenOf = ({ product, trailToken }, { isTrail }) => (isTrail ? trailToken : product.token);

/** Returns workspaces from all parts of the organization, and those of the nursery. */
const readWorkspaces = async (product) => {
  const rows = await queryRows(
    product,
    `select id, name, organization, project, organization = $1 as listed from (
       select w.id, w.name, o.name as organization, w.project,
              row_number() over (partition by o.name order by w.id) as n, count(*) over (partition by o.name) as all
         from views.workspaces w join views.organizations o on o.id = w.organization
        where o.name in ($1, $2)) w
      where n % (1 + "all" / ${REQUESTED}) = 0 order by id`,
    [ORGANIZATION, NURSERY],
  );
  const listed = rows.filter((row) => row.listed);
  const [{ n: workspaces }] = await queryRows(
    product,
    `select count(*)::int as n from views.workspaces w join views.organizations o on o.id = w.organization where o.name = $1`,
    [ORGANIZATION],
  );
  return { ids: rows.map(({ id }) => id), names: listed.map(({ name }) => name), workspaces, home: listed[0]?.project };
};

/** Seeds need no server, and without one its followers do not compete with the rebuild of their views. */
const fill = async (product, seeds, nodeOptions) => {
  await product.start();
  await product.stop();
  for (const options of seeds) await product.seed(options);
  product.nodeOptions = nodeOptions;
  await product.start();
};

/** `seeds`: options of `cadastre seed`; one of them must give the organization bench-1. */
export const openSubject = async (name, project, folder, seeds, nodeOptions = []) => {
  const product = await Product.of(project);
  try {
    await fill(product, seeds, nodeOptions);
    await publishProvider(product, ORGANIZATION);
    const trailToken = await createTrailToken(product);
    const workspaces = await readWorkspaces(product);
    const nursery = seeds.some(({ prefix }) => prefix === 'nursery') ? NURSERY : ORGANIZATION;
    const writes = await openWriteCounter(product);
    await writes.settle();
    // Otherwise autovacuum works on the new rows during the measurements, and counts as the writes of an idle server.
    await queryRows(product, 'vacuum (freeze, analyze)');
    await product.cpuWhenQuiet();
    await writes.measureIdle();
    const memoryAtRest = memoryOf(product.pid);
    const lines = join(folder, `${name.replaceAll(/\W/g, '-')}.ids`);
    await writeFile(lines, `${workspaces.ids.join('\n')}\n`);
    return {
      name,
      product,
      ...workspaces,
      organization: ORGANIZATION,
      nursery,
      trailToken,
      lines,
      writes,
      memoryAtRest,
    };
  } catch (error) {
    await product.remove();
    throw error;
  }
};

/** Ends the changes that a run of requests in turns has left open. */
const CLEAN_UPS = {
  lock: async (product) => {
    const locked = await idsWhere(product, 'lock is not null');
    await forEach(locked, (id) => product.request('POST', `/api/v2/workspaces/${id}/actions/force-unlock`));
  },
  tag: async (product) => {
    const tagged = await idsWhere(product, `id in (select workspace from views.workspace_tags where key = 'bench')`);
    const body = { data: [{ type: 'tags', attributes: { name: 'bench' } }] };
    await forEach(tagged, (id) => product.request('DELETE', `/api/v2/workspaces/${id}/relationships/tags`, body));
  },
};

/** Writes the paths of a read to a file once. */
const prepareLines = async (subject, { name, isWrite, paths }) => {
  if (isWrite) return { lines: subject.lines, count: subject.ids.length };
  subject.prepared ??= new Map();
  if (!subject.prepared.has(name)) {
    const lines = `${subject.lines}.${name}`;
    const all = paths(subject);
    await writeFile(lines, `${all.join('\n')}\n`);
    subject.prepared.set(name, { lines, count: all.length });
  }
  return subject.prepared.get(name);
};

/** Sends the requests of a case, and returns the result of wrk. */
export const send = async (subject, one, connections, seconds) => {
  const { product, nursery, organization, home } = subject;
  return wrk({
    ...(await prepareLines(subject, one)),
    url: product.url,
    token: tokenOf(subject, one),
    ids: subject.lines,
    mode: one.mode,
    connections,
    seconds,
    organization: one.name === 'create' ? nursery : organization,
    project: home,
  });
};

const CLEAN_UP_OF_CASE = { lock: 'lock', contended: 'lock', mixed: 'lock', tag: 'tag' };

/** Ends what the requests of a case have left open. */
export const cleanUp = async ({ product }, { name }) => CLEAN_UPS[CLEAN_UP_OF_CASE[name]]?.(product);

/** Returns one run of requests: its rate, latencies and errors, and the cost of one request. */
export const measure = async (subject, one, connections, seconds) => {
  const { product, writes } = subject;
  const before = await product.cpuWhenQuiet();
  const countedBefore = await writes.count();
  const refusedBefore = await readRefusals(product);
  const run = await send(subject, one, connections, seconds);
  const after = await product.cpuWhenQuiet();
  const written = writes.difference(countedBefore, await writes.count());
  await cleanUp(subject, one);
  return {
    rate: run.requests / run.seconds,
    p50: run.p50,
    p99: run.p99,
    errors: run.refused + run.failed,
    reasons: { ...subtractRefusals(await readRefusals(product), refusedBefore), 'no response': run.failed },
    node: (after.node - before.node) / run.requests,
    postgres: (after.postgres - before.postgres) / run.requests,
    walKb: written.bytes / BYTES_PER_KB / run.requests,
    transactions: written.transactions / run.requests,
  };
};

/** Locks and unlocks one workspace. Waits after each request until the followers are idle, so that no work is shared. */
export const measureLoneLocks = async ({ product, ids, writes }) => {
  await writes.settle();
  const before = await writes.count();
  for (let n = 0; n < LONE_LOCKS; n += 1) {
    await product.request('POST', `/api/v2/workspaces/${ids[0]}/actions/${n % 2 === 0 ? 'lock' : 'unlock'}`);
    await writes.settle();
  }
  const written = writes.difference(before, await writes.count());
  return {
    walKb: written.bytes / BYTES_PER_KB / LONE_LOCKS,
    transactions: written.transactions / LONE_LOCKS,
    errors: 0,
  };
};

export const closeSubject = async ({ product, writes }) => {
  await writes.close();
  await product.remove();
};
