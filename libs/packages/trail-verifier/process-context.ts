import { setTimeout as sleep } from 'node:timers/promises';
import { TOKEN_VARIABLE, type CommandContext } from './command-line.js';

/** Returns the context of a command in this process. Signals stop the command; a second one ends the process. */
export const createProcessContext = (): CommandContext => {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => controller.abort());
  return {
    print: (line) => void process.stdout.write(`${line}\n`),
    printError: (line) => void process.stderr.write(`${line}\n`),
    stdin: process.stdin,
    token: process.env[TOKEN_VARIABLE] || null,
    signal: controller.signal,
    sleep: (duration) => sleep(duration, undefined, { signal: controller.signal }),
  };
};
