#!/usr/bin/env node
import { createProcessContext } from './process-context.js';
import { runVerifierProgram } from './program.js';

process.exitCode = await runVerifierProgram(process.argv.slice(2), createProcessContext());
