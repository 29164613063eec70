import type { ClientBase, Pool } from 'pg';

/** Runs work in a transaction. Rolls it back and rethrows if the work throws. */
export const inTransaction = async <T>(pool: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  // Without a listener, the end of the connection would be an uncaught error. The next statement reports it.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let failure: unknown;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error;
    // A connection that cannot roll back is closed below, which also rolls back.
    await client.query('rollback').then(
      () => (failure = undefined),
      () => undefined,
    );
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(failure !== undefined);
  }
};
