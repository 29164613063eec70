import { sql, formatTimestamp, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';

/**
 * Facts are limited for each organization in intervals of ten seconds. REST counts by the gateway's clock. Kafka counts
 * by the time that the broker gave the message, so that a backlog after an outage is not rejected.
 */
const INTERVAL_MS = 10_000;

/** Number of facts of one organization in one interval. */
export type FactCount = { readonly organization: string; readonly interval: Timestamp; readonly facts: number };

/** Returns the start of the interval that contains a time in milliseconds. */
export const toInterval = (time: number): Timestamp => formatTimestamp(Math.floor(time / INTERVAL_MS) * INTERVAL_MS);

/** Returns the seconds until the next interval begins. */
export const computeSecondsLeft = (time: number): number => Math.ceil((INTERVAL_MS - (time % INTERVAL_MS)) / 1_000);

export const toCountKey = ({ organization, interval }: Omit<FactCount, 'facts'>): string =>
  `${interval} ${organization}`;

/** Returns the counts so far, by `toCountKey`. */
export const loadFactCounts = async (
  database: Database,
  counts: readonly Omit<FactCount, 'facts'>[],
): Promise<ReadonlyMap<string, number>> => {
  if (counts.length === 0) return new Map();
  const rows = await database.rows<FactCount>(sql`
    select r.organization, r.interval_start as interval, r.facts
      from jsonb_to_recordset(${sql.json(counts)}::jsonb) as c (organization text, interval timestamptz)
      join facts.reported r on r.organization = c.organization and r.interval_start = c.interval`);
  return new Map(rows.map((row) => [toCountKey(row), row.facts]));
};

/**
 * Returns statements for the transaction that records the facts. They lock rows in a fixed order, so that writers
 * cannot deadlock.
 */
export const buildFactCountStatements = (counts: readonly FactCount[], limit: number): readonly Sql[] =>
  counts
    .toSorted((a, b) => (toCountKey(a) < toCountKey(b) ? -1 : 1))
    .map(
      ({ organization, interval, facts }) => sql`
      select facts.count_facts(${organization}, ${interval}, ${facts}, ${limit})`,
    );
