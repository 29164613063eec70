import { Refusal, formatTimestamp, unprocessable, type Problem, type Sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { isUnstorable } from '#platform/postgres';
import { parseInboundEvent, type ConsumedMessage, type MessageHandler, type MessageResult } from '#storage/message-log';
import { findRegisteredSources, toSourceKey } from '../sources/audit-fact-sources.view.js';
import { parseFact } from './facts.body.js';
import { loadFactCounts, buildFactCountStatements, toInterval, toCountKey, type FactCount } from './facts.limit.js';
import { findOrganizationsByNameOrId, findRecordedIds } from './facts.queries.js';
import { splitIntoBatches } from './facts.batches.js';
import { deriveEntryId, recordFacts, type FactOutcome, type FactReport } from './facts.recorder.js';

/** Suffix of the topic that other services send facts to, after the prefix. */
export const FACTS_TOPIC = 'facts';

export const FACT_TYPE = 'cadastre.AuditFact.v1';

type AddressedFact = Pick<FactReport, 'fact' | 'traceparent' | 'undated'> & {
  readonly organization: string;
  /** Time that the broker gave the message, in milliseconds. */
  readonly sentAt: number;
};

/**
 * Parses a CloudEvent: its attributes are source, id, time and organization of the fact, its data the other fields. The
 * topic does not authenticate senders; the brokers restrict who can write to it.
 */
const parseAddressedFact = (message: ConsumedMessage): AddressedFact => {
  const { attributes, data } = parseInboundEvent(message);
  const { source, id, type, time, organization } = attributes;
  if (type !== FACT_TYPE) throw unprocessable(`The attribute type must be ${FACT_TYPE}, got ${type}`);
  if (!organization)
    throw unprocessable('The attribute organization is missing. Set it to the name or the id of an organization');
  if (typeof data !== 'object' || data === null) throw unprocessable('The data is not an object');
  const fact = parseFact({ ...data, source, id, time: time ?? formatTimestamp(Number(message.timestamp)) });
  const { traceparent = null } = message;
  return { organization, fact, traceparent, undated: time === undefined, sentAt: Number(message.timestamp) };
};

/** Lists the problems of a refusal. Pointers refer to the data, or name an attribute. */
const formatReason = ({ problems }: Refusal): string =>
  problems.map(({ detail, pointer }: Problem) => (pointer ? `${pointer}: ${detail}` : detail)).join('; ');

/**
 * Returns a rejection for an error that repeating cannot fix. Rethrows other errors, so that the message is read again.
 */
const toRejection = (error: unknown): MessageResult => {
  if (error instanceof Refusal && error.kind !== 'unavailable') return { rejected: formatReason(error) };
  if (isUnstorable(error)) return { rejected: `The database cannot store the fact: ${(error as Error).message}` };
  throw error;
};

/**
 * Returns the result of a message. The first fact with an id counts, and the sender of a different one gets a
 * rejection.
 */
const toMessageResult = (outcome: FactOutcome): MessageResult =>
  outcome.result === 'known' && outcome.differs
    ? { rejected: `Another fact has this source and id: it is recorded as ${outcome.entry}` }
    : outcome;

const tryParseAddressedFact = (message: ConsumedMessage): AddressedFact | MessageResult => {
  try {
    return parseAddressedFact(message);
  } catch (error) {
    return toRejection(error);
  }
};

type ResolvedFact = FactReport & Pick<AddressedFact, 'sentAt'>;

const toOrganizationSource = ({ organization, fact }: ResolvedFact) => ({
  organization: organization.id,
  source: fact.source,
});

/**
 * Rejects facts of sources that their organization has not registered. The topic does not authenticate senders, so each
 * organization registers the services that it accepts.
 */
const rejectUnregisteredSources = async (
  store: EventStore,
  facts: readonly (ResolvedFact | MessageResult)[],
): Promise<readonly (ResolvedFact | MessageResult)[]> => {
  const sources = facts.flatMap((one) => ('fact' in one ? [toOrganizationSource(one)] : []));
  const registered = await findRegisteredSources(store.database, sources);
  return facts.map((one) => {
    if (!('fact' in one) || registered.has(toSourceKey(toOrganizationSource(one)))) return one;
    const { source } = one.fact;
    return { rejected: `The organization has not registered the source ${source} (audit-fact-sources)` };
  });
};

/**
 * Rejects facts beyond the limit of their organization, so that they do not delay other organizations. Facts that the
 * log already contains do not count, because the consumer reads them again after a failure.
 */
const applyLimit = async (
  store: EventStore,
  candidates: readonly (ResolvedFact | MessageResult)[],
  limit: number | null,
): Promise<{ readonly entries: readonly (ResolvedFact | MessageResult)[]; readonly also: readonly Sql[] }> => {
  if (limit === null) return { entries: candidates, also: [] };
  const all = candidates.filter((one) => 'fact' in one);
  const recorded = await findRecordedIds(
    store.database,
    all.map(({ organization, fact }) => deriveEntryId(organization.id, fact)),
  );
  const countOf = ({ organization, sentAt }: ResolvedFact) => ({
    organization: organization.id,
    interval: toInterval(sentAt),
  });
  const before = await loadFactCounts(store.database, deduplicateCounts(all.map(countOf)));
  const counts = new Map<string, FactCount>();
  const accepted = candidates.map((one): ResolvedFact | MessageResult => {
    if (!('fact' in one) || recorded.has(deriveEntryId(one.organization.id, one.fact))) return one;
    const count = countOf(one);
    const key = toCountKey(count);
    const facts = (counts.get(key)?.facts ?? 0) + 1;
    if ((before.get(key) ?? 0) + facts > limit) {
      const many = `The organization reported more than ${limit} facts in the ten seconds from ${count.interval}`;
      return { rejected: `${many} (CADASTRE_FACTS_LIMIT). Send the fact again later` };
    }
    counts.set(key, { ...count, facts });
    return one;
  });
  return { entries: accepted, also: buildFactCountStatements([...counts.values()], limit) };
};

const deduplicateCounts = <T extends Omit<FactCount, 'facts'>>(counts: readonly T[]): T[] => [
  ...new Map(counts.map((count) => [toCountKey(count), count])).values(),
];

type FactRecording = { readonly store: EventStore; readonly topic: string; readonly limit: number | null };

/** Records facts in one transaction. */
const recordAll = (
  { store, topic, limit }: FactRecording,
  addressed: readonly AddressedFact[],
): Promise<readonly MessageResult[]> =>
  store.retryOnConflict(async () => {
    const organizations = await findOrganizationsByNameOrId(
      store.database,
      addressed.map(({ organization }) => organization),
    );
    const resolved = addressed.map(({ organization: nameOrId, ...rest }): ResolvedFact | MessageResult => {
      const organization = organizations.get(nameOrId);
      return organization ? { organization, ...rest } : { rejected: `There is no organization ${nameOrId}` };
    });
    const { entries, also } = await applyLimit(store, await rejectUnregisteredSources(store, resolved), limit);
    const reports = entries.filter((one) => 'fact' in one);
    const outcomes = [...(await recordFacts(store, reports, { type: 'topics', id: topic }, also))];
    return entries.map((one) => ('fact' in one ? toMessageResult(outcomes.shift() as FactOutcome) : one));
  });

/**
 * Creates the handler of messages from a topic. It records facts in as few transactions as possible, and rejects
 * messages that are not valid facts.
 */
export const createFactMessageHandler = (
  store: EventStore,
  topic: string,
  limit: number | null = null,
): MessageHandler => {
  /** Records all facts together. If one of them makes the transaction fail, it records each on its own. */
  const recordEach = async (addressed: readonly AddressedFact[]): Promise<readonly MessageResult[]> => {
    try {
      return await recordAll({ store, topic, limit }, addressed);
    } catch (error) {
      const verdict = toRejection(error);
      if (addressed.length === 1) return [verdict];
    }
    const verdicts: MessageResult[] = [];
    for (const one of addressed) verdicts.push(...(await recordEach([one])));
    return verdicts;
  };

  return async (messages) => {
    const read = messages.map(tryParseAddressedFact);
    const addressed = read.filter((one) => 'fact' in one);
    const verdicts: MessageResult[] = [];
    for (const part of splitIntoBatches(addressed)) verdicts.push(...(await recordEach(part)));
    return read.map((one) => ('fact' in one ? (verdicts.shift() as MessageResult) : one));
  };
};
