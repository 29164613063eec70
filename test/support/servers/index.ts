import { join } from 'node:path';
import pg from 'pg';
import type { Servers, TestKafka } from './servers.js';

export type { TestKafka } from './servers.js';

/** The servers that CADASTRE_TEST_SERVERS names: `embedded`, which is the default, or `containers`. */
export const serversNamed = async (name: string | undefined): Promise<Servers> => {
  switch (name || 'embedded') {
    case 'embedded':
      return (await import('./embedded.js')).embedded;
    case 'containers':
      // Loaded here only: the client of Docker takes a second to load.
      return (await import('./containers.js')).containers;
    default:
      throw new Error(`CADASTRE_TEST_SERVERS: must be "embedded" or "containers", got "${name}"`);
  }
};

const chosenServers = (): Promise<Servers> => serversNamed(process.env['CADASTRE_TEST_SERVERS']);

/** A broker for the caller alone. Fails, and never skips, if the machine can run none. */
export const startKafka = async (): Promise<TestKafka> => (await chosenServers()).startKafka();

/**
 * A Postgres for each worker; each file clones a database of its own there. Files would meet in a single one: followers
 * wait for every transaction of their server, also for those of other databases.
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
  await Promise.all(servers.map(({ url }) => skipSyncs(url)));
  return { urls: servers.map(({ url }) => url), stop };
};

/**
 * Nobody needs the data of these servers after the tests. 300 HTTP tests sync 4,300 times, which takes most of their time
 * on a slow disk. The specs of crashes run the product, whose Postgres syncs as usual.
 */
const skipSyncs = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('alter system set fsync = off');
  await client.query('select pg_reload_conf()');
  await client.end();
};
