import { v5 } from 'uuid';
import type { EventStore, Held, OnceWrite } from '#event-store';
import { contextOf, reported, streamOf, type Fact, type Reporter } from './fact.js';

/** An organization, and the version that it was seen at. */
export type FactsOrganization = { readonly id: string; readonly version: number };

export type Report = { readonly organization: FactsOrganization; readonly fact: Fact };

/** What became of a fact; `entry` is the id of the event, of the trail's entry and of the CloudEvent. */
export type Outcome = { readonly entry: string; readonly result: 'recorded' | 'known' };

const FACTS = 'b5d6c7b2-6f0e-4a53-9a0c-0d1f4f1f6a10';

/** The same for the same fact, for ever: what comes again finds itself in the log. */
export const entryOf = (organization: string, { source, id }: Fact): string =>
  v5(JSON.stringify([organization, source, id]), FACTS);

/**
 * Appends the facts that are not in the log yet, all in one transaction, and says of each which it was. Of two that call
 * themselves alike the first counts. Throws what appends throw: see EventStore.untilFirst.
 */
export const record = async (
  store: EventStore,
  reports: readonly Report[],
  reporter: Reporter,
): Promise<readonly Outcome[]> => {
  const entries = reports.map(({ organization, fact }) => entryOf(organization.id, fact));
  const recorded = new Set(await store.appendOnce(writesOf(reports, entries, reporter), heldBy(reports)));
  // Deleted as it is told: what stands twice among them is known the second time.
  return entries.map((entry) => ({ entry, result: recorded.delete(entry) ? 'recorded' : 'known' }));
};

const writesOf = (reports: readonly Report[], entries: readonly string[], reporter: Reporter): readonly OnceWrite[] => {
  const writes = new Map<string, OnceWrite & { readonly events: OnceWrite['events'][number][] }>();
  const seen = new Set<string>();
  for (const [n, { organization, fact }] of reports.entries()) {
    const id = entries[n] as string;
    if (seen.has(id)) continue;
    seen.add(id);
    const stream = streamOf(organization.id, fact.source);
    const write = writes.get(stream) ?? { stream, organization: organization.id, events: [] };
    write.events.push({ ...reported(fact, reporter), id, context: contextOf(fact) });
    writes.set(stream, write);
  }
  return [...writes.values()];
};

/** Nothing is told of an organization that is being deleted. */
const heldBy = (reports: readonly Report[]): readonly Held[] => {
  const versions = new Map(reports.map(({ organization: { id, version } }) => [id, version]));
  return [...versions].map(([stream, version]) => ({ stream, version }));
};
