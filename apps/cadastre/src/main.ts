#!/usr/bin/env node
import { beginUnderFlags } from './v8-flags.js';

beginUnderFlags();
// Not before: it would be loaded twice.
await import('reflect-metadata');
const { program } = await import('./program.js');
await program.parseAsync();
