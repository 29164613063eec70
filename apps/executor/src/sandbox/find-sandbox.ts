import { plainSandbox } from './plain-sandbox.js';
import type { SandboxChoice, SandboxSettings } from './sandbox.js';

/** Returns the sandbox that this machine can use, after a try. */
export const findSandbox = async ({ mode }: SandboxSettings): Promise<SandboxChoice> => {
  if (mode === 'off') return { sandbox: plainSandbox };
  return { problem: 'Set CADASTRE_EXECUTOR_SANDBOX=off to run commands without a sandbox.' };
};
