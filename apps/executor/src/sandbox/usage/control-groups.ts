import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxLimits } from '../sandbox.js';

const CPU_PERIOD_MICROSECONDS = 100_000;

/** A group of processes whose sum the kernel limits. */
export type ControlGroup = {
  /** The file that a process writes 0 to in order to enter the group. */
  readonly processesFile: string;
  /** Returns whether the kernel has ended processes of the group because of its memory. */
  isOutOfMemory(): Promise<boolean>;
  /** Removes the group after all its processes have ended. */
  remove(): Promise<void>;
};

/** The control groups (version 2) that the executor may create. */
export class ControlGroups {
  private count = 0;

  constructor(private readonly folder: string) {}

  async create({ memoryBytes, processes, processors }: SandboxLimits): Promise<ControlGroup> {
    this.count += 1;
    const group = join(this.folder, `run-${process.pid}-${this.count}`);
    const set = (name: string, value: string | number) => writeFile(join(group, name), String(value));
    await mkdir(group);
    await set('memory.max', memoryBytes);
    await set('memory.oom.group', 1);
    await set('pids.max', processes);
    await set('cpu.max', `${Math.ceil(processors * CPU_PERIOD_MICROSECONDS)} ${CPU_PERIOD_MICROSECONDS}`);
    // The kernel of a machine without swap has no such file.
    await set('memory.swap.max', 0).catch(() => undefined);
    return {
      processesFile: join(group, 'cgroup.procs'),
      isOutOfMemory: async () =>
        /^oom_kill [1-9]/m.test(await readFile(join(group, 'memory.events'), 'utf8').catch(() => '')),
      // An empty group that stays costs nothing.
      remove: () => rmdir(group).catch(() => undefined),
    };
  }
}

const readOwnGroup = async (): Promise<string> =>
  /^0::(\/.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';

/**
 * Returns the control groups of the executor if somebody has delegated them, as systemd does with `Delegate=yes`; else null.
 * Then the executor enters a group of its own, because groups with processes cannot limit groups within them.
 */
export const findControlGroups = async (hierarchy = '/sys/fs/cgroup'): Promise<ControlGroups | null> => {
  try {
    const folder = join(hierarchy, await readOwnGroup());
    const controllers = (await readFile(join(folder, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    if (!['cpu', 'memory', 'pids'].every((name) => controllers.includes(name))) return null;
    await mkdir(join(folder, 'executor'), { recursive: true });
    await writeFile(join(folder, 'executor', 'cgroup.procs'), String(process.pid));
    await writeFile(join(folder, 'cgroup.subtree_control'), '+cpu +memory +pids');
    return new ControlGroups(folder);
  } catch {
    return null;
  }
};
