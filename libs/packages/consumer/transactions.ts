import type { ClientBase, Pool } from 'pg';

/** The connection broke, so the work can succeed with another one. Whether a commit succeeded is then unknown. */
export class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
}

/** A statement in the work failed and the work ignored it, so Postgres rolled everything back. */
export class AbortedTransactionError extends Error {
  override readonly name = 'AbortedTransactionError';

  constructor() {
    super('a statement failed, and the handler ignored the error: Postgres has rolled the transaction back');
  }
}

/**
 * Runs work in a transaction. Rolls it back and rethrows if the work throws. Throws LostConnectionError if it cannot roll
 * back, and AbortedTransactionError if Postgres did not commit.
 */
export const inTransaction = async <T>(pool: Pool, work: (client: ClientBase) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  // Without a listener, the end of the connection would be an uncaught error. The next statement reports it.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let isBroken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    const { command } = await client.query('commit');
    if (command !== 'COMMIT') throw new AbortedTransactionError();
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (isBroken = true));
    throw isBroken ? new LostConnectionError('the connection to Postgres broke', { cause: error }) : error;
  } finally {
    // A broken connection reports its end later.
    if (!isBroken) client.off('error', ignore);
    client.release(isBroken);
  }
};
