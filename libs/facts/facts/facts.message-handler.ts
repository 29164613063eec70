import { Refusal, formatTimestamp, unprocessable, type Problem, type Sql } from '#kernel';
import type { EventStore } from '#event-store';
import { isUnstorable } from '#postgres';
import { parseInboundEvent, type ConsumedMessage, type MessageHandler, type MessageResult } from '#message-log';
import { findRegisteredSources, toSourceKey } from '../sources/audit-fact-sources.queries.js';
import { parseFact } from './facts.body.js';
import { loadFactCounts, buildFactCountStatements, toInterval, toCountKey, type FactCount } from './facts.limit.js';
import { findOrganizationsByNameOrId, findRecordedIds } from './facts.queries.js';
import { splitIntoBatches } from './facts.batches.js';
import { deriveEntryId, recordFacts, type FactOutcome, type FactReport } from './facts.recorder.js';

/** Suffix of the topic that other services send facts to, after the prefix. */
export const FACTS_TOPIC = 'facts';

/** `ce_type` of a fact. */
export const FACT_TYPE = 'cadastre.AuditFact.v1';

type AddressedFact = Pick<FactReport, 'fact' | 'undated'> & {
  readonly organization: string;
  /** The broker's time of the message, in milliseconds. */
  readonly sentAt: number;
};

/**
 * Facts as CloudEvents: the attributes say which it is and whom it is for, the data is the rest of it. The topic does
 * not authenticate senders: the brokers restrict who can write to it.
 */
const parseAddressedFact = (message: ConsumedMessage): AddressedFact => {
  const { attributes, data } = parseInboundEvent(message);
  const { source, id, type, time, organization } = attributes;
  if (type !== FACT_TYPE) throw unprocessable(`The type of a fact is ${FACT_TYPE}, and not ${type}`);
  if (!organization) throw unprocessable('The extension organization is missing: the name or the id of one');
  if (typeof data !== 'object' || data === null) throw unprocessable('The data is not an object');
  const fact = parseFact({ ...data, source, id, time: time ?? formatTimestamp(Number(message.timestamp)) });
  return { organization, fact, undated: time === undefined, sentAt: Number(message.timestamp) };
};

/** Pointers are into the data, or name an attribute. */
const formatReason = ({ problems }: Refusal): string =>
  problems.map(({ detail, pointer }: Problem) => (pointer ? `${pointer}: ${detail}` : detail)).join('; ');

/** The verdict of what can never be recorded; of all else it is not known yet, and it comes again. */
const toRejection = (error: unknown): MessageResult => {
  if (error instanceof Refusal && error.kind !== 'unavailable') return { rejected: formatReason(error) };
  if (isUnstorable(error)) return { rejected: `The database cannot keep it: ${(error as Error).message}` };
  throw error;
};

/** The first that came under a name counts; whoever sent another one under it is to learn of it. */
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
 * Rejects facts of sources that their organization has not registered: the topic does not authenticate a sender, so each
 * organization names the services that it accepts.
 */
const rejectUnregisteredSources = async (
  store: EventStore,
  placed: readonly (ResolvedFact | MessageResult)[],
): Promise<readonly (ResolvedFact | MessageResult)[]> => {
  const sources = placed.flatMap((one) => ('fact' in one ? [toOrganizationSource(one)] : []));
  const registered = await findRegisteredSources(store.database, sources);
  return placed.map((one) => {
    if (!('fact' in one) || registered.has(toSourceKey(toOrganizationSource(one)))) return one;
    const { source } = one.fact;
    return { rejected: `The organization has not registered the source ${source} (audit-fact-sources)` };
  });
};

/**
 * Rejects facts beyond the limit of their organization, so that other organizations do not wait for them. Facts that are in
 * the log already do not count, because the consumer reads them again after a failure.
 */
const applyLimit = async (
  store: EventStore,
  placed: readonly (ResolvedFact | MessageResult)[],
  limit: number | null,
): Promise<{ readonly known: readonly (ResolvedFact | MessageResult)[]; readonly also: readonly Sql[] }> => {
  if (limit === null) return { known: placed, also: [] };
  const all = placed.filter((one) => 'fact' in one);
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
  const known = placed.map((one): ResolvedFact | MessageResult => {
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
  return { known, also: buildFactCountStatements([...counts.values()], limit) };
};

const deduplicateCounts = <T extends Omit<FactCount, 'facts'>>(counts: readonly T[]): T[] => [
  ...new Map(counts.map((count) => [toCountKey(count), count])).values(),
];

/** Records facts from the topic of that name, in as few transactions as may be; what is no fact is rejected. */
export const createFactMessageHandler = (
  store: EventStore,
  topic: string,
  limit: number | null = null,
): MessageHandler => {
  const recordAll = (addressed: readonly AddressedFact[]): Promise<readonly MessageResult[]> =>
    store.untilFirst(async () => {
      const found = await findOrganizationsByNameOrId(
        store.database,
        addressed.map(({ organization }) => organization),
      );
      const placed = addressed.map(({ organization: called, ...rest }): ResolvedFact | MessageResult => {
        const organization = found.get(called);
        return organization ? { organization, ...rest } : { rejected: `There is no organization ${called}` };
      });
      const { known, also } = await applyLimit(store, await rejectUnregisteredSources(store, placed), limit);
      const reports = known.filter((one) => 'fact' in one);
      const outcomes = [...(await recordFacts(store, reports, { type: 'topics', id: topic }, also))];
      return known.map((one) => ('fact' in one ? toMessageResult(outcomes.shift() as FactOutcome) : one));
    });

  /** Where one of them spoils the transaction the others go each by themselves. */
  const recordEach = async (addressed: readonly AddressedFact[]): Promise<readonly MessageResult[]> => {
    try {
      return await recordAll(addressed);
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
