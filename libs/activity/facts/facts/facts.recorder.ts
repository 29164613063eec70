import { v5 } from 'uuid';
import type { Sql } from '#platform/kernel';
import type { EventStore, StreamVersion, IdempotentWrite } from '#storage/event-store';
import { createFactContext, createFactEvent, toFactStream, type Fact, type Reporter } from './fact.js';
import { findDifferingFacts, type FactsOrganization } from './facts.queries.js';

export type FactReport = {
  readonly organization: FactsOrganization;
  readonly fact: Fact;
  /** The span of the message that reported the fact. Without it, the span of the request counts. */
  readonly traceparent?: string | null;
  /** True if the message has no time. Its time is then that of its arrival, which differs when it is repeated. */
  readonly undated?: boolean;
};

/**
 * Outcome of a fact. `entry` is the id of the event, of the entry in the audit trail and of the CloudEvent. `differs`
 * is true if another fact was recorded with the same source and id.
 */
export type FactOutcome =
  | { readonly entry: string; readonly result: 'recorded' }
  | { readonly entry: string; readonly result: 'known'; readonly differs: boolean };

type FactsEvent = IdempotentWrite['events'][number];

const FACTS = 'b5d6c7b2-6f0e-4a53-9a0c-0d1f4f1f6a10';

/** Returns the same id for the same fact at any time, so that the log can recognize a repetition. */
export const deriveEntryId = (organization: string, { source, id }: Fact): string =>
  v5(JSON.stringify([organization, source, id]), FACTS);

/**
 * Appends the facts that the log does not contain, in one transaction, and returns the outcome of each. Of several
 * facts with the same id, the first counts. Throws the errors of appends.
 */
export const recordFacts = async (
  store: EventStore,
  reports: readonly FactReport[],
  reporter: Reporter,
  also: readonly Sql[] = [],
): Promise<readonly FactOutcome[]> => {
  const events = reports.map(({ organization, fact, traceparent = null }): FactsEvent => {
    const id = deriveEntryId(organization.id, fact);
    return { ...createFactEvent(fact, reporter), id, context: createFactContext(fact), traceparent };
  });
  const added = new Set(await store.appendOnce(buildWrites(reports, events), listOrganizationVersions(reports), also));
  // Deletes each id on first use, so that a fact that occurs twice counts as known the second time.
  const isNew = events.map(({ id }) => added.delete(id));
  const recordedBefore = events.flatMap((event, n) => (isNew[n] ? [] : [{ n, event, undated: !!reports[n]?.undated }]));
  const differing = await findDifferingFacts(store.database, recordedBefore);
  return events.map(({ id: entry }, n) =>
    isNew[n] ? { entry, result: 'recorded' } : { entry, result: 'known', differs: differing.has(n) },
  );
};

const buildWrites = (reports: readonly FactReport[], events: readonly FactsEvent[]): readonly IdempotentWrite[] => {
  const writes = new Map<string, IdempotentWrite & { readonly events: FactsEvent[] }>();
  const ids = new Set<string>();
  for (const [n, { organization, fact }] of reports.entries()) {
    const event = events[n] as FactsEvent;
    if (ids.has(event.id)) continue;
    ids.add(event.id);
    const stream = toFactStream(organization.id, fact.source);
    const write = writes.get(stream) ?? { stream, organization: organization.id, writer: null, events: [] };
    write.events.push(event);
    writes.set(stream, write);
  }
  return [...writes.values()];
};

/**
 * Returns the organizations' versions as preconditions, so that no fact is recorded for an organization that is being
 * deleted.
 */
const listOrganizationVersions = (reports: readonly FactReport[]): readonly StreamVersion[] => {
  const versions = new Map(reports.map(({ organization: { id, version } }) => [id, version]));
  return [...versions].map(([stream, version]) => ({ stream, version }));
};
