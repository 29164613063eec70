let modules = null;

/** Modules of the first product, for all products: a process can load the build only once. */
export const modulesOf = (product) =>
  (modules ??= Promise.all(
    [
      'libs/kernel/index.js',
      'libs/event-store/index.js',
      'libs/host/index.js',
      'libs/workspaces/workspace.js',
      'apps/slices.js',
    ].map((file) => product.import(file)),
  ).then((loaded) => Object.assign({}, ...loaded)));

/** Opens the log of the product's database in the same way as the product. */
export const openStore = async (product, connections) => {
  const { Database, EventStore, RandomIds, SystemClock, registry, slices } = await modulesOf(product);
  const projections = slices.flatMap((slice) => slice.projections);
  const database = new Database({ url: await product.databaseUrl(), connections, applicationName: 'bench' });
  const { encryptionKey } = product;
  const store = new EventStore(database, registry, projections, new SystemClock(), new RandomIds(), encryptionKey);
  const close = async () => {
    store.signal.stop();
    await database.close();
  };
  return { store, close };
};
