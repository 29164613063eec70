import { registerHooks } from 'node:module';

/**
 * Node runs the TypeScript of test/support directly, except for its imports, which contain the file names of a build.
 */
const readTypeScript = () =>
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        if (error.code !== 'ERR_MODULE_NOT_FOUND' || !specifier.startsWith('.')) throw error;
        return next(specifier.replace(/\.js$/, '.ts'), context);
      }
    },
  });

/** The brokers in KAFKA_BROKERS, or a broker that the tests can start. */
export const openBroker = async () => {
  const brokerList = process.env.KAFKA_BROKERS;
  if (brokerList) return { brokers: brokerList.split(','), stop: () => Promise.resolve() };
  const hooks = readTypeScript();
  try {
    const { startKafka } = await import('../support/servers/index.ts');
    return await startKafka();
  } finally {
    hooks.deregister();
  }
};
