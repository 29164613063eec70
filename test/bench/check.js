// Checks in a few seconds that the bench matches the code: loads all its modules, and runs those of their parts that
// need no other programs. Measures nothing. bench.spec.ts runs it.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CASES } from './cases.js';
import { readJob } from './metrics.js';
import { PROJECT } from './product.js';
import { readMessages } from './store.js';
import { closeSubject, idsWhere, measureLoneLocks, openSubject, tokenOf } from './subjects.js';
import { PRUNING_JOB } from './trail.js';

const WORKSPACES = 3;
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

/** Requests the first path of each read. Returns the names of the cases that succeeded. */
const readAll = async (subject) => {
  const reads = Object.values(CASES).filter(({ isWrite }) => !isWrite);
  for (const one of reads) {
    await subject.product.request('GET', one.paths(subject)[0], undefined, tokenOf(subject, one));
  }
  return reads.map(({ name }) => name);
};

const check = async () => {
  await loadAll();
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-bench-files-'));
  const seeds = [{ prefix: 'bench', workspaces: WORKSPACES, 'trail-entries': 20 }];
  const subject = await openSubject('check', PROJECT, folder, seeds);
  try {
    const { product } = subject;
    await waitForJob(product, PRUNING_JOB);
    const reads = await readAll(subject);
    const { walKb, transactions } = await measureLoneLocks(subject);
    const workspaces = await idsWhere(product, 'true');
    const messages = await readMessages(await product.databaseUrl(), { source: 'http://bench', prefix: 'bench' });
    return {
      workspaces: workspaces.length,
      reads,
      hasWritten: walKb > 0 && transactions > 0,
      messages: messages.length,
    };
  } finally {
    await closeSubject(subject);
    await rm(folder, { recursive: true, force: true });
  }
};

if (import.meta.main) process.stdout.write(`${JSON.stringify(await check())}\n`);
