import { sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';

type RecordedStream = { readonly stream: string; readonly time: Timestamp };

/** Returns the streams that exist, and when each began. */
export const listRecordedStreams = (
  database: Database,
  streams: readonly string[],
): Promise<readonly RecordedStream[]> =>
  database.rows<RecordedStream>(sql`
    select stream, time from event_store.events where stream = any (${streams}::text[]) and version = 1`);
