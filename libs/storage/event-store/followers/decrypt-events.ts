import type { RecordedEvent, Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { isReadOutside, type Follower } from './follower.js';

type DecryptionTarget = {
  readonly store: EventStore;
  readonly session: Pick<DatabaseSession, 'run'>;
  /** `copies` if other followers have the same events. */
  readonly result: 'overwritten' | 'copies';
};

/** Returns encrypted events as the follower needs them: encrypted, or with the texts of all people who are not forgotten. */
export const decryptFor = async (
  follower: Follower,
  events: readonly RecordedEvent[],
  { store: { personalDataCipher }, session, result }: DecryptionTarget,
): Promise<readonly RecordedEvent[]> => {
  if (follower.keepEncrypted) return events;
  const run = (statement: Sql) => session.run(statement);
  return isReadOutside(follower)
    ? personalDataCipher.open(events, run, result)
    : personalDataCipher.follow(events, run, result);
};
