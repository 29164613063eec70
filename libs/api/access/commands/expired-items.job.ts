import {
  formatTimestamp,
  sql,
  type Clock,
  type Decider,
  type Ids,
  type Message,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import type { Database, ScheduledJob } from '#platform/postgres';
import type { EventStore } from '#storage/event-store';
import { createSystemContext } from '../callers/actor.js';

const EXPIRED_PER_PAGE = 100;

type ExpiredItem = { readonly id: string; readonly organization: string; readonly recoverableUntil: Timestamp };

/** Yields the resources that cannot be recovered any more, the oldest first, each once. */
async function* listExpired(
  database: Database,
  { table, where = sql`true` }: { readonly table: string; readonly where?: Sql },
  now: Timestamp,
): AsyncGenerator<ExpiredItem> {
  let after = { recoverableUntil: '-infinity', id: '' };
  for (;;) {
    const page = await database.rows<ExpiredItem>(sql`
      select id, organization, recoverable_until as "recoverableUntil" from ${sql.raw(table)}
       where recoverable_until <= ${now} and ${where}
         and (recoverable_until, id) > (${after.recoverableUntil}::timestamptz, ${after.id})
       order by recoverable_until, id limit ${EXPIRED_PER_PAGE}`);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < EXPIRED_PER_PAGE) return;
    after = last;
  }
}

type ExpiredItems<S, C extends Message, E extends Message> = {
  /** Name of the job. */
  readonly name: string;
  readonly everyMs: number;
  /** Table of the deleted resources. */
  readonly table: string;
  /** Condition for the rows that the job ends. */
  readonly where?: Sql;
  /** For errors. */
  readonly noun: string;
  readonly decider: Decider<S, C, E>;
  readonly purge: C;
};

/**
 * Ends the deleted resources that can no longer be recovered. A failed purge does not prevent the others; the first
 * error becomes the cause of the thrown one.
 */
export const createExpiredItemsJob = <S, C extends Message, E extends Message>(
  { store, clock, ids }: { readonly store: EventStore; readonly clock: Clock; readonly ids: Ids },
  { name, everyMs, noun, decider, purge, ...rows }: ExpiredItems<S, C, E>,
): ScheduledJob => ({
  name,
  everyMs,
  run: async ({ signal, done }) => {
    const failures: unknown[] = [];
    const now = formatTimestamp(clock.now().getTime());
    for await (const { id, organization } of listExpired(store.database, rows, now)) {
      if (signal.aborted) return;
      try {
        const { isAppended } = await store.handle({
          decider,
          load: () => store.load(id, decider),
          command: () => purge,
          organization: () => organization,
          context: createSystemContext('recovery period', ids.uuid()),
        });
        if (isAppended) done();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 0) return;
    throw new Error(`${failures.length} deleted ${noun} could not be purged`, { cause: failures[0] });
  },
});
