import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { PhaseFolder } from './phase-folder.js';

const execute = promisify(execFile);

let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'cadastre-phase-'));
});

afterEach(() => rm(parent, { recursive: true }));

it.each([
  ['paths that are longer than the system accepts', 'for n in $(seq 24); do mkdir $d && cd $d || break; done'],
  ['folders that are closed to their owner', 'mkdir -p a/b && touch a/b/c && chmod 0 a/b a'],
])('is removed with %s', async (_, script) => {
  const folder = new PhaseFolder(join(parent, 'phase'));
  await folder.create();
  const name = 'd=$(printf %0200d 0)';
  await execute('sh', ['-c', `cd "$0" && ${name} && ${script}`, folder.tree]);
  await folder.remove();
  expect(await readdir(parent)).toEqual([]);
});
