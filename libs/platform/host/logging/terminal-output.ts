import { createRequire } from 'node:module';
import type { DestinationStream } from 'pino';
import type pretty from 'pino-pretty';

const load = createRequire(import.meta.url);

/**
 * Returns a stream that prints log lines in colours, to standard output by default. It loads pino-pretty, which servers
 * without a terminal do not need.
 */
export const openTerminalOutput = (destination?: DestinationStream): DestinationStream => {
  const create = load('pino-pretty') as typeof pretty;
  return create({ sync: true, ignore: 'pid,hostname', ...(destination ? { destination } : {}) });
};
