import { spawnSync } from 'node:child_process';
import { startEmbeddedPostgres } from '#host';
import { jarsAreHere, startOnJava } from '../kafka/java-broker.js';
import { WITHOUT_SYNCS, type Servers } from './servers.js';

/** Servers without Docker: the Postgres of the product, and Kafka on the Java of this machine. */
export const embedded: Servers = {
  startPostgres: async (folder) => {
    const server = await startEmbeddedPostgres({
      folder,
      serverSettings: WITHOUT_SYNCS,
      logger: { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error },
    });
    return { url: server.socketUrl ?? server.url, stop: () => server.stop() };
  },
  startKafka: () => {
    if (javaIsNewEnough() && (jarsAreHere() || runs('mvn', '-v'))) return startOnJava();
    throw new Error(
      'This test needs a Kafka broker. Install Java 17 or newer with Maven ' +
        '(apt-get install openjdk-17-jre-headless maven), or run the tests with Docker: ' +
        'CADASTRE_TEST_SERVERS=containers npm test',
    );
  },
};

const javaIsNewEnough = (): boolean => {
  // Java prints its version to stderr, such as: openjdk version "17.0.15" 2025-04-15. Java 8 names itself "1.8".
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const major = /version "(\d+)/.exec(stderr ?? '')?.[1];
  return major !== undefined && Number(major) >= 17;
};

const runs = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { timeout: 10_000 }).status === 0;
