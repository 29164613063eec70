import { StoredTokenRateLimit } from '#organizations/general-settings';
import type { TestServer } from './server.js';

/**
 * The statements that a request sends to Postgres, without those that record reads, and the number of appends that
 * record reads.
 */
export type Cost = {
  readonly status: number;
  readonly statements: number;
  readonly roundTrips: number;
  readonly appends: number;
};

/**
 * Measures work while the server sends no statements of its own: signals to followers, which come up to 100 ms after an
 * append, records of token use, and readings of the rate limit.
 */
const withoutServersOwn = async <T>(server: TestServer, measure: () => Promise<T>): Promise<T> => {
  const { store, uses } = server;
  const { signal } = store;
  await uses.flush();
  await server.resolve(StoredTokenRateLimit).refresh();
  signal.stop();
  signal.notify = () => undefined;
  try {
    return await measure();
  } finally {
    Reflect.deleteProperty(signal, 'notify');
    signal.notify();
  }
};

/** Returns the number of statements that the work causes while no other request runs. */
export const countStatements = (server: TestServer, work: () => Promise<unknown>): Promise<number> =>
  withoutServersOwn(server, async () => {
    const before = server.database.count.statements;
    await work();
    return server.database.count.statements - before;
  });

/**
 * Measures a request while no other request runs. It also leaves out the lookup of the server's own caller, which is
 * repeated after a minute and after each change of access.
 */
export const costOf = async (server: TestServer, request: () => Promise<{ status: number }>): Promise<Cost> => {
  server.authenticator.forget(server.adminToken);
  await server.get('/api/v2/account/details');
  return withoutServersOwn(server, () => measureCost(server, request));
};

const measureCost = async (
  { store, database }: TestServer,
  request: () => Promise<{ status: number }>,
): Promise<Cost> => {
  const recorded = { statements: 0, roundTrips: 0, appends: 0 };
  const appendOnce = store.appendOnce.bind(store);
  store.appendOnce = async (...task) => {
    const { statements, roundTrips } = database.count;
    try {
      return await appendOnce(...task);
    } finally {
      recorded.appends += 1;
      recorded.statements += database.count.statements - statements;
      recorded.roundTrips += database.count.roundTrips - roundTrips;
    }
  };
  const before = { ...database.count };
  try {
    const { status } = await request();
    return {
      status,
      statements: database.count.statements - before.statements - recorded.statements,
      roundTrips: database.count.roundTrips - before.roundTrips - recorded.roundTrips,
      appends: recorded.appends,
    };
  } finally {
    Reflect.deleteProperty(store, 'appendOnce');
  }
};
