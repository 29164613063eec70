import type { Database, EventStore, StatementCounter } from '#event-store';

/** What was sent to Postgres but for what reads are recorded with, and how many appends that took. */
export type CountedApart = StatementCounter & { readonly appends: number };

/** Counts from here on; one request at a time. */
export const countingApart = ({
  store,
  database,
}: {
  readonly store: EventStore;
  readonly database: Database;
}): (() => CountedApart) => {
  const recording = { statements: 0, roundTrips: 0, appends: 0 };
  const appendOnce = store.appendOnce.bind(store);
  store.appendOnce = async (...task) => {
    const { statements, roundTrips } = database.count;
    try {
      return await appendOnce(...task);
    } finally {
      recording.appends += 1;
      recording.statements += database.count.statements - statements;
      recording.roundTrips += database.count.roundTrips - roundTrips;
    }
  };
  return () => ({
    statements: database.count.statements - recording.statements,
    roundTrips: database.count.roundTrips - recording.roundTrips,
    appends: recording.appends,
  });
};
