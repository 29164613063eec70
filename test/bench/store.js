import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EncryptionKeys } from '#platform/encryption';
import { buildWriterRegistration, EventStore } from '#storage/event-store';
import { RandomIds, SystemClock } from '#platform/host';
import { toKafkaMessage } from '#storage/message-log';
import { Database } from '#platform/postgres';
import { PROJECT } from './product.js';

// The apps have no public names, so this path is checked only when the file is loaded (check.js).
const { eventRegistry, moduleDefinitions, views } = await import(
  pathToFileURL(join(PROJECT, 'dist/apps/modules.js')).href
);

export { eventRegistry };

/** The context of events that the bench appends directly to the log. */
export const CONTEXT = {
  accessor: { id: 'user-bench', type: 'users', name: 'bench' },
  auth: 'Client',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: 'bench',
  causation: null,
};

/** Opens the log of the product's database in the same way as the product. */
export const openStore = async (product, connections) => {
  const projections = moduleDefinitions.flatMap((definition) => definition.projections);
  const database = new Database({
    url: await product.databaseUrl(),
    connections,
    applicationName: 'bench',
    writerRegistration: buildWriterRegistration(views),
  });
  const keys = new EncryptionKeys(product.encryptionKey);
  const store = new EventStore(database, eventRegistry, projections, new SystemClock(), new RandomIds(), keys);
  const close = async () => {
    store.signal.stop();
    await database.close();
  };
  return { store, close };
};

/** Returns all events of a log as Kafka messages. `origin`: the source and the prefix of the topics. */
export const readMessages = async (databaseUrl, origin) => {
  const database = new Database({ url: databaseUrl, connections: 1, applicationName: 'bench' });
  // Texts of people stay encrypted, so the key is not used.
  const store = new EventStore(database, eventRegistry, [], null, null, new EncryptionKeys(Buffer.alloc(32)));
  const messages = [];
  try {
    for (let after = { transaction: '0', position: 0 }; ;) {
      const run = (statement) => database.rows(statement);
      const events = await store.log.read(after, 1_000, run, { keepEncrypted: true });
      if (events.length === 0) return messages;
      for (const event of events) messages.push(toKafkaMessage(event, eventRegistry[event.type], origin));
      after = events.at(-1);
    }
  } finally {
    await database.close();
  }
};
