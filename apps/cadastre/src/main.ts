#!/usr/bin/env node
import { demandNode } from './node-version.js';
import { beginUnderFlags } from './v8-flags.js';

demandNode();
beginUnderFlags();
// Not before: it would be loaded twice.
await import('reflect-metadata');
const { program } = await import('./program.js');
await program.parseAsync();
