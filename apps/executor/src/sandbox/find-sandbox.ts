import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.js';
import { findRootFolders } from './bubblewrap/run-folder.js';
import { plainSandbox } from './plain-sandbox.js';
import type { Sandbox, SandboxChoice, SandboxSettings } from './sandbox.js';
import { findControlGroups } from './usage/control-groups.js';

const SWITCH_OFF =
  'or set CADASTRE_EXECUTOR_SANDBOX=off if you trust every configuration and everybody who can change one';

const findProgram = async (name: string): Promise<string | null> => {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const path = join(folder, name);
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== '' && isProgram) return path;
  }
  return null;
};

/** Returns null if a command runs in the sandbox, else why not. */
const tryOut = async (sandbox: Sandbox): Promise<string | null> => {
  try {
    const command = { workingDirectory: '/', environment: {}, mounts: [], seconds: 60 };
    const { stdout, stderr, exit } = await sandbox.start({ ...command, argv: ['/bin/sh', '-c', 'exit 0'] });
    const [, errors, { code }] = await Promise.all([text(stdout), text(stderr), exit]);
    return code === 0 ? null : errors.trim();
  } catch (error) {
    return (error as Error).message;
  }
};

/** Returns the sandbox that this machine can use, after a try. */
export const findSandbox = async (settings: SandboxSettings): Promise<SandboxChoice> => {
  if (settings.mode === 'off') return { sandbox: plainSandbox, limitsProcessors: false };
  if (process.platform !== 'linux')
    return { problem: `The sandbox needs Linux: run the executor there, ${SWITCH_OFF}.` };
  const [bubblewrap, prlimit] = await Promise.all([findProgram('bwrap'), findProgram('prlimit')]);
  if (bubblewrap === null) return { problem: `Install the package bubblewrap, version 0.8 or newer, ${SWITCH_OFF}.` };
  if (prlimit === null) return { problem: `Install the package util-linux, which contains prlimit, ${SWITCH_OFF}.` };
  const [rootFolders, groups] = await Promise.all([findRootFolders(), findControlGroups()]);
  const sandbox = new BubblewrapSandbox({ bubblewrap, prlimit, rootFolders, groups }, settings);
  const failure = await tryOut(sandbox);
  if (failure === null) return { sandbox, limitsProcessors: groups !== null };
  return {
    problem: `bubblewrap cannot create a sandbox here (${failure}): permit user namespaces, install bubblewrap 0.8 or newer, ${SWITCH_OFF}.`,
  };
};
