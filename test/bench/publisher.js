// The publisher compared with kafkajs alone, and its lag at a thousand events per second.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import pg from 'pg';
import { openBroker } from './broker.js';
import { countPublished, measureKafkajsAfterRestart, measureOutage } from './brokers-away.js';
import { figure } from './figures.js';
import { Product } from './product.js';
import { output } from './programs.js';
import { percentile } from './statistics.js';
import { CONTEXT, openStore } from './store.js';
import { table, verdict } from './table.js';

const SHARE = 0.6;
const LAG_P99_MS = 250;
const EVENTS_A_SECOND = 1_000;
const TICK_MS = 10;
/** The events of a workspace in the backlog. Most of them are locks. */
const EVENTS_A_WORKSPACE = 20;
const WARM_UP_MS = 3_000;
/** A new prefix for each run, because brokers can outlive the run. */
const PREFIX = `bench-${process.pid}`;

/** Measures the rate at which the backlog is published, from its first batch to its last. */
const measureBacklog = async (product) => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  const progress = async () => {
    const { rows } = await client.query(
      `select count(*) filter (where (e.transaction, e.position) <= (c.transaction, c.position))::int as done,
              count(*)::int as "all"
         from event_store.events e left join event_store.checkpoints c on c.follower = 'publisher'`,
    );
    return rows[0];
  };
  const queryCheckpoint = async (columns, values) => {
    const { rows } = await client.query(
      `select ${columns} from event_store.checkpoints where follower = 'publisher'`,
      values,
    );
    return rows[0];
  };
  try {
    const begin = (await queryCheckpoint('position'))?.position;
    // The last event in the order of the log need not have the highest position.
    const { rows: last } = await client.query(
      `select transaction::text as transaction, position from event_store.events e
        order by e.transaction desc, e.position desc limit 1`,
    );
    const head = [last[0].transaction, last[0].position];
    const isBehind = async () =>
      !(await queryCheckpoint('(transaction, position) >= ($1::xid8, $2::bigint) as passed', head)).passed;
    while ((await queryCheckpoint('position'))?.position === begin) await delay(5);
    const first = await progress();
    const [started, before] = [performance.now(), product.cpu()];
    while (await isBehind()) await delay(20);
    const [ms, after] = [performance.now() - started, product.cpu()];
    const events = first.all - first.done;
    return {
      events: first.all,
      remaining: events,
      rate: (events / ms) * 1_000,
      cpu: (after.node + after.postgres - before.node - before.postgres) / events,
    };
  } finally {
    await client.end();
  }
};

/** Appends at a steady rate. Returns the age in ms of each event when a consumer received it. */
const lagsOf = async (product, brokers, seconds) => {
  const { store, close } = await openStore(product, 4);
  const kafka = new kafkajs.Kafka({ brokers, clientId: 'bench', logLevel: kafkajs.logLevel.ERROR });
  const consumer = kafka.consumer({ groupId: PREFIX, maxWaitTimeInMs: 5 });
  const lags = [];
  const counted = { from: Infinity };
  await consumer.connect();
  await consumer.subscribe({ topics: [new RegExp(`^${PREFIX}\\.`)], fromBeginning: false });
  await consumer.run({
    eachBatchAutoResolve: true,
    eachBatch: ({ batch }) => {
      const receivedAt = Date.now();
      for (const { headers } of batch.messages) {
        const happened = Date.parse(String(headers.ce_time));
        if (happened >= counted.from) lags.push(receivedAt - happened);
      }
      return Promise.resolve();
    },
  });
  try {
    const data = { holder: { id: 'user-bench', type: 'users', name: 'bench' }, reason: 'bench' };
    /** @type {Promise<unknown>[]} */
    const appends = [];
    const startedAt = performance.now();
    counted.from = Date.now() + WARM_UP_MS;
    for (let appended = 0; performance.now() - startedAt < WARM_UP_MS + seconds * 1_000;) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * EVENTS_A_SECOND);
      for (; appended < due; appended += 1) {
        const events = [{ type: 'WorkspaceLocked', data }];
        const write = { stream: `ws-lag-${appended}`, organization: 'org-bench', expected: 0, events };
        appends.push(store.append([write], CONTEXT));
      }
      await delay(TICK_MS);
    }
    await Promise.all(appends);
    await delay(1_000);
    return lags;
  } finally {
    await consumer.disconnect();
    await close();
  }
};

/** Rows of the table about the time without brokers and the time after it. */
const listOutageRows = (outage) => {
  if (!outage) return [];
  const { before, away, backlog, boundRate } = outage;
  const share = backlog.rate / boundRate;
  return [
    ['requests/s before brokers were away', Math.round(before), '', ''],
    ['requests/s while they were away', Math.round(away), '', ''],
    ['requests while away by before', (away / before).toFixed(2), '', ''],
    ['events written meanwhile', backlog.remaining, '', ''],
    ['kafkajs alone after a restart of the broker, events/s', Math.round(boundRate), '', ''],
    ['publisher after they were away, events/s', Math.round(backlog.rate), '', ''],
    ['its share of kafkajs alone then', share.toFixed(2), `≥ ${SHARE}`, verdict(share >= SHARE)],
  ];
};

const listOutageFigures = (outage) => {
  if (!outage) return [];
  const add = (metric, value, options) =>
    figure('publisher', 'after an outage of the brokers', '', metric, [value], options);
  return [
    add('share of kafkajs alone', outage.backlog.rate / outage.boundRate, { better: 'higher', budget: SHARE }),
    add('events', outage.backlog.rate, { unit: '1/s' }),
    add('requests meanwhile by before', outage.away / outage.before, { better: 'higher' }),
  ];
};

/** The publisher and kafkajs alone send the same number of events after a restart of the broker. */
const compareAfterOutage = async (product, broker, seconds) => {
  const outage = await measureOutage(product, broker, seconds, () => measureBacklog(product));
  await product.cpuWhenQuiet();
  const bound = { prefix: `${PREFIX}-restart`, count: outage.backlog.remaining };
  const boundRate = await measureKafkajsAfterRestart(broker, await product.databaseUrl(), bound);
  return { ...outage, boundRate };
};

export const publisher = async ({ events, seconds, away: awaySeconds = 60 }) => {
  const broker = await openBroker();
  const product = await Product.of();
  try {
    await product.start();
    await product.seed({ workspaces: Math.ceil(events / EVENTS_A_WORKSPACE), 'trail-entries': events });
    const script = join(import.meta.dirname, 'kafkajs-alone.js');
    const args = [script, await product.databaseUrl(), broker.brokers.join(','), `${PREFIX}-bound`];
    const bound = JSON.parse(await output(process.execPath, args));
    const boundRate = (bound.sent / bound.ms) * 1_000;
    await product.cpuWhenQuiet();
    await product.stop();

    const kafka = { KAFKA_BROKERS: broker.brokers.join(','), CADASTRE_TOPIC_PREFIX: PREFIX };
    await product.start(kafka);
    const backlog = await measureBacklog(product);
    const share = backlog.rate / boundRate;
    await product.cpuWhenQuiet();
    // Brokers of the caller cannot be killed.
    const outage = broker.kill && awaySeconds > 0 ? await compareAfterOutage(product, broker, awaySeconds) : null;
    const logged = (outage?.backlog ?? backlog).events;
    const published = await countPublished(broker.brokers, PREFIX, logged);
    const lags = await lagsOf(product, broker.brokers, seconds);
    const p99 = percentile(lags, 0.99);
    const rows = [
      ['kafkajs alone, events/s', Math.round(boundRate), '', ''],
      ['publisher, events/s', Math.round(backlog.rate), '', ''],
      ['publisher, CPU ms per event', backlog.cpu.toFixed(3), '', ''],
      ['share of kafkajs alone', share.toFixed(2), `≥ ${SHARE}`, verdict(share >= SHARE)],
      ...listOutageRows(outage),
      ['events in the log', logged, '', ''],
      ['events in the topics', published, `= ${logged}`, verdict(published === logged)],
      [`lag p50 ms, at ${EVENTS_A_SECOND} events/s`, percentile(lags, 0.5), '', ''],
      ['lag p99 ms', p99, `≤ ${LAG_P99_MS}`, verdict(p99 <= LAG_P99_MS)],
      ['events received', lags.length, '', ''],
    ];
    process.stdout.write(`${table(['', 'measured', 'budget', ''], rows)}\n`);
    const add = (metric, value, options) => figure('publisher', 'publisher', '', metric, [value], options);
    return [
      ...listOutageFigures(outage),
      add('share of kafkajs alone', share, { better: 'higher', budget: SHARE }),
      add('events', backlog.rate, { unit: '1/s' }),
      add('CPU of an event', backlog.cpu, { unit: 'ms', better: 'lower' }),
      add('lag p99', p99, { unit: 'ms', better: 'lower', budget: LAG_P99_MS }),
    ];
  } finally {
    await product.remove();
    await broker.stop();
  }
};
