import { badRequest, momentOf, sql, timestampOf, type Timestamp } from '#kernel';
import type { Database } from '#event-store';
import { parameter, type Query, type Related } from '#json-api';
import { asOf, type About } from './as-of.queries.js';
import { historyCaughtUp, type Subject } from './history.follower.js';

export { asOf } from './as-of.queries.js';

export const AS_OF = 'as-of';

/** The moment that a read is to go back to; null where it is about how things are. */
const momentIn = (query: Query): Timestamp | null => {
  const text = parameter(query, AS_OF);
  if (!text) return null;
  const moment = momentOf(text);
  if (moment === undefined) {
    throw badRequest('as-of is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z', AS_OF);
  }
  return timestampOf(moment);
};

/** What `as-of` asks for, once all that has been answered before is in the history. */
export const asOfIn = async (database: Database, query: Query, subject: Subject): Promise<Timestamp | null> => {
  const at = momentIn(query);
  if (at !== null) await historyCaughtUp(database, subject);
  return at;
};

/** Returns the related resources as they were at a time: their query reads the past. */
export const relatedAsOf = ({ query, render }: Related, at: Timestamp, about: About): Related => ({
  query: sql`${asOf(at, about)} ${query}`,
  render,
});
