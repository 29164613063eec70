#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { runCredentialsHelper } from './program.js';

const { code, output, errors } = await runCredentialsHelper(process.argv.slice(2), {
  env: process.env,
  readInput: () => text(process.stdin),
});
process.stdout.write(output);
process.stderr.write(errors);
process.exitCode = code;
