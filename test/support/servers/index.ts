import { join } from 'node:path';
import type { Servers, TestKafka } from './servers.js';

export type { TestKafka } from './servers.js';

/** Returns the servers for a value of CADASTRE_TEST_SERVERS: `embedded`, which is the default, `containers` or `system`. */
export const serversNamed = async (name: string | undefined): Promise<Servers> => {
  switch (name || 'embedded') {
    case 'embedded':
      return (await import('./embedded.js')).embedded;
    case 'containers':
      // Imported only here, because the Docker client takes a second to load.
      return (await import('./containers.js')).containers;
    case 'system':
      return (await import('./system.js')).system;
    default:
      throw new Error(`CADASTRE_TEST_SERVERS: must be "embedded", "containers" or "system", got "${name}"`);
  }
};

const chosenServers = (): Promise<Servers> => serversNamed(process.env['CADASTRE_TEST_SERVERS']);

/** Starts a broker for the caller alone. Fails, and never skips, if the machine cannot run one. */
export const startKafka = async (): Promise<TestKafka> => (await chosenServers()).startKafka();

/**
 * Starts a Postgres for each worker, in which each file creates a database of its own. Files of different workers would
 * disturb each other in a single Postgres: followers wait for every transaction of their server, including those of
 * other databases.
 */
export const startPostgresServers = async (
  workers: number,
  folder: string,
): Promise<{ readonly urls: readonly string[]; stop(): Promise<void> }> => {
  const chosen = await chosenServers();
  const folders = Array.from({ length: workers }, (_, n) => join(folder, `postgres-${n + 1}`));
  const starts = await Promise.allSettled(folders.map((each) => chosen.startPostgres(each)));
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.stop())));
  const failure = starts.find((start) => start.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { urls: servers.map(({ url }) => url), stop };
};
