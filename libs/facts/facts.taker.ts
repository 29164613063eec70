import { Refused, timestampOf, unprocessable, type Problem, type Sql } from '#kernel';
import { isUnstorable, type EventStore } from '#event-store';
import { inboundEvent, type InboxMessage, type Taker, type Verdict } from '#message-log';
import { registeredAmong, sourceKeyOf } from './audit-fact-sources.queries.js';
import { factIn } from './facts.body.js';
import { countedFor, countFacts, intervalOf, keyOf, type Count } from './facts.limit.js';
import { organizationsCalled, recordedAmong } from './facts.queries.js';
import { inParts } from './facts.parts.js';
import { entryIdOf, record, type Outcome, type Report } from './facts.recorder.js';

/** Suffix of the topic that other services send facts to, after the prefix. */
export const FACTS_TOPIC = 'facts';

/** `ce_type` of a fact. */
export const FACT_TYPE = 'cadastre.AuditFact.v1';

type Addressed = Pick<Report, 'fact' | 'undated'> & {
  readonly organization: string;
  /** The broker's time of the message, in milliseconds. */
  readonly sentAt: number;
};

/**
 * Facts as CloudEvents: the attributes say which it is and whom it is for, the data is the rest of it. The topic does
 * not authenticate senders: the brokers restrict who can write to it.
 */
const addressedIn = (message: InboxMessage): Addressed => {
  const { attributes, data } = inboundEvent(message);
  const { source, id, type, time, organization } = attributes;
  if (type !== FACT_TYPE) throw unprocessable(`The type of a fact is ${FACT_TYPE}, and not ${type}`);
  if (!organization) throw unprocessable('The extension organization is missing: the name or the id of one');
  if (typeof data !== 'object' || data === null) throw unprocessable('The data is not an object');
  const fact = factIn({ ...data, source, id, time: time ?? timestampOf(Number(message.timestamp)) });
  return { organization, fact, undated: time === undefined, sentAt: Number(message.timestamp) };
};

/** Pointers are into the data, or name an attribute. */
const reasonOf = ({ problems }: Refused): string =>
  problems.map(({ detail, pointer }: Problem) => (pointer ? `${pointer}: ${detail}` : detail)).join('; ');

/** The verdict of what can never be recorded; of all else it is not known yet, and it comes again. */
const rejected = (error: unknown): Verdict => {
  if (error instanceof Refused && error.kind !== 'unavailable') return { rejected: reasonOf(error) };
  if (isUnstorable(error)) return { rejected: `The database cannot keep it: ${(error as Error).message}` };
  throw error;
};

/** The first that came under a name counts; whoever sent another one under it is to learn of it. */
const verdictOn = (outcome: Outcome): Verdict =>
  outcome.result === 'known' && outcome.differs
    ? { rejected: `Another fact has this source and id: it is recorded as ${outcome.entry}` }
    : outcome;

const addressedOrRejected = (message: InboxMessage): Addressed | Verdict => {
  try {
    return addressedIn(message);
  } catch (error) {
    return rejected(error);
  }
};

type Placed = Report & Pick<Addressed, 'sentAt'>;

const sourceOf = ({ organization, fact }: Placed) => ({ organization: organization.id, source: fact.source });

/**
 * Rejects facts of sources that their organization has not registered: the topic does not authenticate a sender, so each
 * organization names the services that it accepts.
 */
const fromRegisteredSources = async (
  store: EventStore,
  placed: readonly (Placed | Verdict)[],
): Promise<readonly (Placed | Verdict)[]> => {
  const sources = placed.flatMap((one) => ('fact' in one ? [sourceOf(one)] : []));
  const registered = await registeredAmong(store.database, sources);
  return placed.map((one) => {
    if (!('fact' in one) || registered.has(sourceKeyOf(sourceOf(one)))) return one;
    const { source } = one.fact;
    return { rejected: `The organization has not registered the source ${source} (audit-fact-sources)` };
  });
};

/**
 * Rejects facts beyond the limit of their organization, so that other organizations do not wait for them. Facts that are in
 * the log already do not count, because the consumer reads them again after a failure.
 */
const withinLimit = async (
  store: EventStore,
  placed: readonly (Placed | Verdict)[],
  limit: number | null,
): Promise<{ readonly known: readonly (Placed | Verdict)[]; readonly also: readonly Sql[] }> => {
  if (limit === null) return { known: placed, also: [] };
  const all = placed.filter((one) => 'fact' in one);
  const recorded = await recordedAmong(
    store.database,
    all.map(({ organization, fact }) => entryIdOf(organization.id, fact)),
  );
  const countOf = ({ organization, sentAt }: Placed) => ({
    organization: organization.id,
    interval: intervalOf(sentAt),
  });
  const before = await countedFor(store.database, uniqueCounts(all.map(countOf)));
  const counts = new Map<string, Count>();
  const known = placed.map((one): Placed | Verdict => {
    if (!('fact' in one) || recorded.has(entryIdOf(one.organization.id, one.fact))) return one;
    const count = countOf(one);
    const key = keyOf(count);
    const facts = (counts.get(key)?.facts ?? 0) + 1;
    if ((before.get(key) ?? 0) + facts > limit) {
      const many = `The organization reported more than ${limit} facts in the ten seconds from ${count.interval}`;
      return { rejected: `${many} (CADASTRE_FACTS_LIMIT). Send the fact again later` };
    }
    counts.set(key, { ...count, facts });
    return one;
  });
  return { known, also: countFacts([...counts.values()], limit) };
};

const uniqueCounts = <T extends Omit<Count, 'facts'>>(counts: readonly T[]): T[] => [
  ...new Map(counts.map((count) => [keyOf(count), count])).values(),
];

/** Records facts from the topic of that name, in as few transactions as may be; what is no fact is rejected. */
export const factsTaker = (store: EventStore, topic: string, limit: number | null = null): Taker => {
  const recordAll = (addressed: readonly Addressed[]): Promise<readonly Verdict[]> =>
    store.untilFirst(async () => {
      const found = await organizationsCalled(
        store.database,
        addressed.map(({ organization }) => organization),
      );
      const placed = addressed.map(({ organization: called, ...rest }): Placed | Verdict => {
        const organization = found.get(called);
        return organization ? { organization, ...rest } : { rejected: `There is no organization ${called}` };
      });
      const { known, also } = await withinLimit(store, await fromRegisteredSources(store, placed), limit);
      const reports = known.filter((one) => 'fact' in one);
      const outcomes = [...(await record(store, reports, { type: 'topics', id: topic }, also))];
      return known.map((one) => ('fact' in one ? verdictOn(outcomes.shift() as Outcome) : one));
    });

  /** Where one of them spoils the transaction the others go each by themselves. */
  const recordEach = async (addressed: readonly Addressed[]): Promise<readonly Verdict[]> => {
    try {
      return await recordAll(addressed);
    } catch (error) {
      const verdict = rejected(error);
      if (addressed.length === 1) return [verdict];
    }
    const verdicts: Verdict[] = [];
    for (const one of addressed) verdicts.push(...(await recordEach([one])));
    return verdicts;
  };

  return async (messages) => {
    const read = messages.map(addressedOrRejected);
    const addressed = read.filter((one) => 'fact' in one);
    const verdicts: Verdict[] = [];
    for (const part of inParts(addressed)) verdicts.push(...(await recordEach(part)));
    return read.map((one) => ('fact' in one ? (verdicts.shift() as Verdict) : one));
  };
};
