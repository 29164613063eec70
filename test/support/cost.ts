import type { TestServer } from './server.js';

/** What a request has sent to Postgres, but for what reads are recorded with, and how many appends that took. */
export type Cost = {
  readonly status: number;
  readonly statements: number;
  readonly roundTrips: number;
  readonly appends: number;
};

/**
 * What a request costs, where it is the only one under way. What else leaves for Postgres by a clock of its own is kept
 * out of it: signals to followers, notes of when tokens were used, and who the server's own caller is, which is looked
 * up anew after a minute, and after each change of access.
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
