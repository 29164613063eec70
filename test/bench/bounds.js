// What the machine can do without the product, measured in the same run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPgbench } from './pgbench.js';
import { cpuOf } from './proc.js';
import { ORGANIZATION } from './subjects.js';
import { wrk } from './wrk.js';

/** Bare Fastify with the documents that the product sends. */
const openFastify = async ({ product, ids, idsFile }, folder) => {
  const answers = [
    ['get', '/api/v2/workspaces/:id', `/api/v2/workspaces/${ids[0]}`],
    [
      'list',
      '/api/v2/organizations/:organization/workspaces',
      `/api/v2/organizations/${ORGANIZATION}/workspaces?page%5Bsize%5D=20`,
    ],
  ];
  const routes = [];
  for (const [name, route, path] of answers) {
    const file = join(folder, `${name}.json`);
    await writeFile(file, await product.request('GET', path));
    routes.push([route, file]);
  }
  const script = join(import.meta.dirname, 'bare-fastify.js');
  const child = spawn(process.execPath, [script, JSON.stringify(routes)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const target = {
    url: `http://127.0.0.1:${Number(port)}`,
    token: product.token,
    ids,
    idsFile,
    organization: ORGANIZATION,
  };
  return {
    run: async (mode, connections, seconds) => {
      const before = cpuOf(child.pid);
      const run = await wrk({ ...target, mode, connections, seconds });
      return { rate: run.requests / run.seconds, cpu: (cpuOf(child.pid) - before) / run.requests };
    },
    close: () => child.kill('SIGKILL'),
  };
};

export const openBounds = async (subject, folder) => {
  const fastify = await openFastify(subject, folder);
  const pgbench = await openPgbench(await subject.product.databaseUrl());
  return {
    run: async (bound, connections, seconds) => {
      if (bound === 'get' || bound === 'list') return fastify.run(bound, connections, seconds);
      const before = await subject.product.cpuWhenQuiet();
      const rate = await pgbench.run(bound, connections, seconds);
      const after = await subject.product.cpuWhenQuiet();
      return { rate, cpu: (after.postgres - before.postgres) / (rate * seconds) };
    },
    close: async () => {
      fastify.close();
      await pgbench.close();
    },
  };
};
