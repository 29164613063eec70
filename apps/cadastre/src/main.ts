#!/usr/bin/env node
import cluster from 'node:cluster';
import { demandNode } from './node-version.js';
import { restartWithFlags } from './v8-flags.js';

demandNode();
restartWithFlags();
// Imported only here, because the process may restart before and would load it twice.
await import('reflect-metadata');
if (cluster.isWorker) {
  const { runWorker } = await import('./worker.js');
  await runWorker();
} else {
  const { program } = await import('./program.js');
  await program.parseAsync();
}
