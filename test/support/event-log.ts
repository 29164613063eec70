import { Refusal, sql, type LogPosition, type RecordedEvent } from '#platform/kernel';
import { waitForFollower, type EventStore } from '#storage/event-store';

const START: LogPosition = { transaction: '0', position: 0 };
const BATCH = 1_000;
const POLL_MS = 20;

/** Reads the part of the log that followers may read now, in its order. */
export const readableLog = async (
  store: EventStore,
  { batch = BATCH, keepEncrypted = false } = {},
): Promise<RecordedEvent[]> => {
  const log: RecordedEvent[] = [];
  for (;;) {
    const last = log.at(-1) ?? START;
    const next = await store.log.read(last, batch, (statement) => store.database.rows(statement), { keepEncrypted });
    if (next.length === 0) return log;
    log.push(...next);
  }
};

/**
 * Reads every event in the order of the log. Events after a running transaction cannot be read yet. Transaction ids
 * belong to the whole Postgres, so the transaction can be one of another database.
 */
export const readWholeLog = async (store: EventStore, options = {}): Promise<RecordedEvent[]> => {
  const length = await logLength(store);
  for (;;) {
    const log = await readableLog(store, options);
    if (log.length >= length) return log;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

/**
 * Resolves when the follower has read everything that was in the log at the time of the call. There is no time limit
 * except the test's own: `waitForFollower` fails after the time limit of a request.
 */
export const waitForFollowers = async ({ database }: EventStore, follower: string): Promise<void> => {
  for (;;) {
    try {
      return await waitForFollower(database, follower);
    } catch (error) {
      if (!(error instanceof Refusal && error.kind === 'unavailable')) throw error;
    }
  }
};

export const logLength = async (store: EventStore): Promise<number> =>
  (await store.database.row<{ n: number }>(sql`select count(*) as n from event_store.events`))?.n ?? -1;
