import { v5 } from 'uuid';
import type { Sql } from '#kernel';
import type { EventStore, StreamVersion, IdempotentWrite } from '#event-store';
import { createFactContext, createFactEvent, toFactStream, type Fact, type Reporter } from './fact.js';
import { findDifferingFacts, type FactsOrganization } from './facts.queries.js';

export type FactReport = {
  readonly organization: FactsOrganization;
  readonly fact: Fact;
  /** Nobody said when it happened: its time is that of its coming, and another one when it comes again. */
  readonly undated?: boolean;
};

/**
 * What became of a fact; `entry` is the id of the event, of the trail's entry and of the CloudEvent. What is known
 * `differs` where another fact was recorded under its name.
 */
export type FactOutcome =
  | { readonly entry: string; readonly result: 'recorded' }
  | { readonly entry: string; readonly result: 'known'; readonly differs: boolean };

type FactsEvent = IdempotentWrite['events'][number];

const FACTS = 'b5d6c7b2-6f0e-4a53-9a0c-0d1f4f1f6a10';

/** The same for the same fact, for ever: what comes again finds itself in the log. */
export const deriveEntryId = (organization: string, { source, id }: Fact): string =>
  v5(JSON.stringify([organization, source, id]), FACTS);

/**
 * Appends the facts that are not in the log yet, all in one transaction, and says of each which it was. Of two that call
 * themselves alike the first counts. Throws what appends throw: see EventStore.untilFirst.
 */
export const recordFacts = async (
  store: EventStore,
  reports: readonly FactReport[],
  reporter: Reporter,
  also: readonly Sql[] = [],
): Promise<readonly FactOutcome[]> => {
  const events = reports.map(({ organization, fact }): FactsEvent => {
    const id = deriveEntryId(organization.id, fact);
    return { ...createFactEvent(fact, reporter), id, context: createFactContext(fact) };
  });
  const left = new Set(await store.appendOnce(buildWrites(reports, events), listOrganizationVersions(reports), also));
  // Deleted as it is told: what stands twice among them is known the second time.
  const isNew = events.map(({ id }) => left.delete(id));
  const known = events.flatMap((event, n) => (isNew[n] ? [] : [{ n, event, undated: !!reports[n]?.undated }]));
  const differing = await findDifferingFacts(store.database, known);
  return events.map(({ id: entry }, n) =>
    isNew[n] ? { entry, result: 'recorded' } : { entry, result: 'known', differs: differing.has(n) },
  );
};

const buildWrites = (reports: readonly FactReport[], events: readonly FactsEvent[]): readonly IdempotentWrite[] => {
  const writes = new Map<string, IdempotentWrite & { readonly events: FactsEvent[] }>();
  const seen = new Set<string>();
  for (const [n, { organization, fact }] of reports.entries()) {
    const event = events[n] as FactsEvent;
    if (seen.has(event.id)) continue;
    seen.add(event.id);
    const stream = toFactStream(organization.id, fact.source);
    const write = writes.get(stream) ?? { stream, organization: organization.id, writer: null, events: [] };
    write.events.push(event);
    writes.set(stream, write);
  }
  return [...writes.values()];
};

/** Nothing is told of an organization that is being deleted. */
const listOrganizationVersions = (reports: readonly FactReport[]): readonly StreamVersion[] => {
  const versions = new Map(reports.map(({ organization: { id, version } }) => [id, version]));
  return [...versions].map(([stream, version]) => ({ stream, version }));
};
