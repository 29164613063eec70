import { sql, timestampOf, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#event-store';

/**
 * Facts are limited for each organization and interval of ten seconds. REST counts by the gateway's clock. Kafka counts by the
 * time that the broker gave the message, so a backlog that builds up during an outage is not rejected.
 */
const INTERVAL_MS = 10_000;

/** Facts of one organization in one interval. */
export type Count = { readonly organization: string; readonly interval: Timestamp; readonly facts: number };

/** The start of the interval that a time in milliseconds falls in. */
export const intervalOf = (time: number): Timestamp => timestampOf(Math.floor(time / INTERVAL_MS) * INTERVAL_MS);

/** Seconds until the next interval begins. */
export const secondsLeft = (time: number): number => Math.ceil((INTERVAL_MS - (time % INTERVAL_MS)) / 1_000);

export const keyOf = ({ organization, interval }: Omit<Count, 'facts'>): string => `${interval} ${organization}`;

/** Returns the facts counted so far, by keyOf. */
export const countedFor = async (
  database: Database,
  counts: readonly Omit<Count, 'facts'>[],
): Promise<ReadonlyMap<string, number>> => {
  if (counts.length === 0) return new Map();
  const rows = await database.rows<Count>(sql`
    select r.organization, r.interval_start as interval, r.facts
      from jsonb_to_recordset(${sql.json(counts)}::jsonb) as c (organization text, interval timestamptz)
      join facts.reported r on r.organization = c.organization and r.interval_start = c.interval`);
  return new Map(rows.map((row) => [keyOf(row), row.facts]));
};

/** Statements for the transaction that records the facts. They lock rows in one order, so writers cannot deadlock. */
export const countFacts = (counts: readonly Count[], limit: number): readonly Sql[] =>
  counts
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(
      ({ organization, interval, facts }) => sql`
      select facts.count_facts(${organization}, ${interval}, ${facts}, ${limit})`,
    );
