// Writes while the brokers are away: what requests notice, and how fast the publisher catches up.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { forEach, idsWhere } from './subjects.js';

const CONNECTIONS = 8;
const QUIET_MS = 20_000;

/** Locks and unlocks workspaces for this time. Returns the requests per second. */
const lockAndUnlock = async (product, ids, seconds) => {
  const end = performance.now() + seconds * 1_000;
  let requests = 0;
  const loop = async (id) => {
    while (performance.now() < end)
      for (const action of ['lock', 'unlock']) {
        await product.request('POST', `/api/v2/workspaces/${id}/actions/${action}`, {});
        requests += 1;
      }
  };
  await Promise.all(ids.map(loop));
  return requests / seconds;
};

/**
 * Kills the broker, and starts it again after some seconds of writes. `drain` resolves to the rate of the publisher.
 * Returns the rates of requests per second before and meanwhile, and what `drain` returns.
 */
export const measureOutage = async (product, broker, seconds, drain) => {
  const locked = await idsWhere(product, 'lock is not null');
  await forEach(locked.slice(0, CONNECTIONS), (id) =>
    product.request('POST', `/api/v2/workspaces/${id}/actions/force-unlock`),
  );
  const ids = (await idsWhere(product, 'lock is null')).slice(0, CONNECTIONS);
  await lockAndUnlock(product, ids, 3);
  const before = await lockAndUnlock(product, ids, seconds);
  await broker.kill();
  const away = await lockAndUnlock(product, ids, seconds);
  const drained = drain();
  await broker.restart();
  return { before, away, backlog: await drained };
};

/**
 * Returns the messages per second of kafkajs alone after another restart of the broker, which is slower at first than one
 * that has run for a while.
 */
export const measureKafkajsAfterRestart = async (broker, databaseUrl, { prefix, count }) => {
  const script = join(import.meta.dirname, 'kafkajs-alone.js');
  const child = spawn(process.execPath, [script, databaseUrl, broker.brokers.join(','), prefix, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  await broker.kill();
  await broker.restart();
  child.stdin.end('\n');
  const { sent, ms } = JSON.parse((await lines.next()).value);
  return (sent / ms) * 1_000;
};

/**
 * Returns the number of different events in the topics of events. Ends when all are there, or after 20 s without a further
 * one.
 */
export const countPublished = async (brokers, prefix, events) => {
  const kafka = new kafkajs.Kafka({ brokers, clientId: 'bench', logLevel: kafkajs.logLevel.ERROR });
  const consumer = kafka.consumer({ groupId: `${prefix}-count` });
  const ids = new Set();
  let lastAt = performance.now();
  await consumer.connect();
  await consumer.subscribe({ topics: [new RegExp(`^${prefix}\\.(?!.*\\.state$)`)], fromBeginning: true });
  await consumer.run({
    eachBatch: ({ batch }) => {
      const { size } = ids;
      for (const { headers } of batch.messages) if (headers.ce_position) ids.add(String(headers.ce_id));
      if (ids.size > size) lastAt = performance.now();
      return Promise.resolve();
    },
  });
  try {
    while (ids.size < events && performance.now() - lastAt < QUIET_MS) await delay(100);
    return ids.size;
  } finally {
    await consumer.disconnect();
  }
};
