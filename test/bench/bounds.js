// What the machine can do without the product, measured in the same run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPgbench } from './pgbench.js';
import { cpuOf } from './proc.js';
import { tokenOf } from './subjects.js';
import { wrk } from './wrk.js';

/** Writes the response of the product and the paths of the bound to files. */
const prepareRead = async ({ name, paths, isTrail }, subject, folder) => {
  const all = paths(subject);
  const body = await subject.product.request('GET', all[0], undefined, tokenOf(subject, { isTrail }));
  const [file, lines] = [join(folder, `${name}.body`), join(folder, `${name}.bound`)];
  await writeFile(file, body);
  await writeFile(lines, `${all.map((path) => `/${name}${path}`).join('\n')}\n`);
  return { name, file, lines, count: all.length };
};

/** Bare Fastify with the documents that the product sends. */
const openFastify = async (subject, cases, folder) => {
  const reads = new Map();
  for (const one of cases.filter(({ isWrite }) => !isWrite)) {
    reads.set(one.name, await prepareRead(one, subject, folder));
  }
  const script = join(import.meta.dirname, 'bare-fastify.js');
  const answers = JSON.stringify([...reads.values()].map(({ name, file }) => [name, file]));
  const child = spawn(process.execPath, [script, answers], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const { organization, product } = subject;
  const target = { url: `http://127.0.0.1:${Number(port)}`, token: product.token, organization, mode: 'read' };
  return {
    run: async (name, connections, seconds) => {
      const { lines, count } = reads.get(name);
      const before = cpuOf(child.pid);
      const run = await wrk({ ...target, lines, count, connections, seconds });
      return { rate: run.requests / run.seconds, cpu: (cpuOf(child.pid) - before) / run.requests };
    },
    close: () => child.kill('SIGKILL'),
  };
};

/** Adds the bounds of reads and writes by the share of writes. */
const mix = (reads, writes, share) => ({
  rate: 1 / ((1 - share) / reads.rate + share / writes.rate),
  cpu: (1 - share) * reads.cpu + share * writes.cpu,
});

export const openBounds = async (subject, cases, folder) => {
  const fastify = await openFastify(subject, cases, folder);
  const pgbench = await openPgbench(await subject.product.databaseUrl());
  const runStatement = async (bound, connections, seconds) => {
    const before = await subject.product.cpuWhenQuiet();
    const rate = await pgbench.run(bound, connections, seconds);
    const after = await subject.product.cpuWhenQuiet();
    return { rate, cpu: (after.postgres - before.postgres) / (rate * seconds) };
  };
  return {
    run: async ({ name, writes, bound }, connections, seconds) => {
      if (writes === 1) return runStatement(bound, connections, seconds);
      const reads = await fastify.run(name, connections, seconds);
      return writes === 0 ? reads : mix(reads, await runStatement(bound, connections, seconds), writes);
    },
    close: async () => {
      fastify.close();
      await pgbench.close();
    },
  };
};
