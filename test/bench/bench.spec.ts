import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BUILD, ROOT } from '../support/folders.js';

const execute = promisify(execFile);

let project: string;

/** Creates a project that contains the benchmark and what the global set-up has compiled, as after `npm run build`. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'cadastre-bench-spec-'));
  await mkdir(join(project, 'test'));
  await cp(join(ROOT, 'test/bench'), join(project, 'test/bench'), { recursive: true });
  await copyFile(join(ROOT, 'package.json'), join(project, 'package.json'));
  await symlink(join(BUILD, 'dist'), join(project, 'dist'));
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
});
afterAll(() => rm(project, { recursive: true, force: true }));

const runScript = async (script: string, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await execute(process.execPath, [join(project, 'test/bench', script), ...args], { cwd: project });
  return stdout;
};

describe('the benchmark', () => {
  it('lists its commands', async () => {
    const help = await runScript('main.js', '--help');
    for (const command of ['rest', 'growth', 'publisher', 'rebuild', 'trail', 'start']) expect(help).toContain(command);
  });

  it('matches the modules, the events and the metrics of the product', async () => {
    const { workspaces, events, messages } = JSON.parse(await runScript('check.js'));
    expect(workspaces).toBe(3);
    expect(events).toBeGreaterThan(40);
    expect(messages).toBe(events);
  });
});
