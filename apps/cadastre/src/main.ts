#!/usr/bin/env node
import { demandNode } from './node-version.js';
import { restartWithFlags } from './v8-flags.js';

demandNode();
restartWithFlags();
// Not before: it would be loaded twice.
await import('reflect-metadata');
const { program } = await import('./program.js');
await program.parseAsync();
