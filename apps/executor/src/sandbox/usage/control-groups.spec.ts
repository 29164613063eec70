import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { findControlGroups } from './control-groups.js';

// A folder with the files that the executor writes. What the kernel does with them needs a machine with delegated groups.

let hierarchy: string;
let own: string;

beforeEach(async () => {
  hierarchy = await mkdtemp(join(tmpdir(), 'cadastre-groups-'));
  const path = /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8').catch(() => '0::/'))?.[1] ?? '/';
  own = join(hierarchy, path);
  await mkdir(own, { recursive: true });
});

afterEach(() => rm(hierarchy, { recursive: true }));

const LIMITS = { memoryBytes: 1000, processes: 10, diskBytes: 1, freeBytes: 0, temporaryBytes: 1, processors: 1.5 };

it('limits memory, processes and processors of a group, after the executor has left the outer one', async () => {
  await writeFile(join(own, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
  const groups = await findControlGroups(hierarchy);
  expect(await readFile(join(own, 'executor/cgroup.procs'), 'utf8')).toBe(String(process.pid));
  expect(await readFile(join(own, 'cgroup.subtree_control'), 'utf8')).toBe('+cpu +memory +pids');
  const group = await groups?.create(LIMITS);
  const folder = join(own, `run-${process.pid}-1`);
  const read = async (name: string) => `${name} ${await readFile(join(folder, name), 'utf8')}`;
  expect(
    await Promise.all(['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max', 'cpu.max'].map(read)),
  ).toEqual(['memory.max 1000', 'memory.swap.max 0', 'memory.oom.group 1', 'pids.max 10', 'cpu.max 150000 100000']);
  expect(group?.processesFile).toBe(join(folder, 'cgroup.procs'));
});

it('reports that the kernel has ended processes because of the memory', async () => {
  await writeFile(join(own, 'cgroup.controllers'), 'cpu memory pids');
  const group = await (await findControlGroups(hierarchy))?.create(LIMITS);
  const events = join(own, `run-${process.pid}-1`, 'memory.events');
  await writeFile(events, 'low 0\nmax 3\noom 0\noom_kill 0\n');
  expect(await group?.isOutOfMemory()).toBe(false);
  await writeFile(events, 'low 0\nmax 3\noom 1\noom_kill 2\n');
  expect(await group?.isOutOfMemory()).toBe(true);
});

it.each(['', 'hugetlb\n', 'memory pids'])('finds no groups if the controllers are "%s"', async (controllers) => {
  await writeFile(join(own, 'cgroup.controllers'), controllers);
  expect(await findControlGroups(hierarchy)).toBeNull();
});

it('finds no groups without version 2 of control groups', async () => {
  expect(await findControlGroups(hierarchy)).toBeNull();
});
