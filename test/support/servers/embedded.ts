import { startEmbeddedPostgres } from '#platform/host';
import { startOnJava } from '../kafka/java-broker.js';
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
  startKafka: startOnJava,
};
