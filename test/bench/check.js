// Checks in a few seconds that the bench matches the code: loads all its modules, and runs those of their parts that
// need no other programs. Measures nothing. bench.spec.ts runs it.
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fillLog } from './filled-log.js';
import { grow } from './growth.js';
import { readJob } from './metrics.js';
import { Product } from './product.js';
import { readMessages } from './store.js';
import { idsWhere } from './subjects.js';
import { PRUNING_JOB } from './trail.js';

const WORKSPACES = 3;
const EVENTS = 40;
const LIMIT_MS = 60_000;

const loadAll = async () => {
  const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.js'));
  // Without this module, because it would wait for itself.
  for (const name of names) if (name !== basename(import.meta.filename)) await import(`./${name}`);
};

const waitForJob = async (product, job) => {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await readJob(product, job)).hasSucceeded) {
    if (performance.now() > deadline) throw new Error(`/metrics does not report that the job ${job} succeeded`);
    await delay(50);
  }
};

const check = async () => {
  await loadAll();
  const product = await Product.of();
  try {
    await product.start();
    await waitForJob(product, PRUNING_JOB);
    await grow(product, WORKSPACES);
    const workspaces = await idsWhere(product, 'true');
    const events = await fillLog(await product.databaseUrl(), EVENTS);
    const messages = await readMessages(await product.databaseUrl(), { source: 'http://bench', prefix: 'bench' });
    return { workspaces: workspaces.length, events, messages: messages.length };
  } finally {
    await product.remove();
  }
};

if (import.meta.main) process.stdout.write(`${JSON.stringify(await check())}\n`);
