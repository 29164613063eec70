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
 * Measures a request while no other request runs. It leaves out statements that do not depend on the request: signals
 * to followers, records of token use, and the lookup of the server's own caller, which is repeated after a minute and
 * after each change of access.
 */
export const costOf = async (server: TestServer, request: () => Promise<{ status: number }>): Promise<Cost> => {
  const { store, database, uses } = server;
  const { signal } = store;
  server.authenticator.forget(server.adminToken);
  await server.get('/api/v2/account/details');
  await uses.flush();
  signal.stop();
  signal.notify = () => undefined;
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
    Reflect.deleteProperty(signal, 'notify');
    signal.notify();
  }
};
