import {
  getErrorMessage,
  getEventKind,
  type Clock,
  type EventRegistry,
  type LogPosition,
  type RecordedEvent,
} from '#platform/kernel';
import {
  findEarliest,
  isAfter,
  selectCheckpoints,
  toPosition,
  type EventStore,
  type FollowerPosition,
} from '#storage/event-store';
import { castRows, pause, type QueryRunner } from '#platform/postgres';
import { toKafkaMessage, type CloudEventSource, type OutboundMessage } from '../topics/cloud-event.js';
import type { MessageSender } from '../publishing/message-sender.js';
import {
  selectLastPosition,
  selectReplayEnd,
  selectReplayStart,
  type LastPositionRow,
  type ReplayStart,
} from './log-replay.queries.js';
import { PUBLISHER } from '../publishing/publisher.follower.js';
import { SendPace } from './send-pace.js';

/** Marks messages of a replay. Everything else is as the publisher sends it. */
export const REPLAY_HEADER = 'cadastre-replay';

/** Events that one statement reads and one request sends. */
const PAGE = 500;

export type ReplayRequest = {
  readonly from: ReplayStart;
  /** The last position; null for the end of the log. */
  readonly toPosition: number | null;
  /** Types of the events; null for all. */
  readonly types: readonly string[] | null;
  /** Full name of the topic. */
  readonly topic: string;
  /**
   * Whether the publisher sends events to the topic too. Then it gets only events that the publisher has sent: consumers
   * would skip earlier events of a stream that arrive after a later one.
   */
  readonly isLive: boolean;
  /** Most events in a second. */
  readonly rate: number;
};

type ReplayDependencies = {
  readonly store: EventStore;
  readonly registry: EventRegistry;
  readonly origin: CloudEventSource;
  readonly sender: Pick<MessageSender, 'send'>;
  readonly clock: Clock;
  /** Runs the statements, on a connection that nobody else uses. */
  readonly run: QueryRunner;
  readonly signal: AbortSignal;
  /** Is called after each page. */
  readonly report: (progress: { readonly sent: number; readonly position: number }) => void;
};

/** `next`: position of the first event that was not sent; null if the replay has ended. */
export type ReplayResult = { readonly sent: number; readonly next: number | null };

/** A failure of the brokers. The messages of the last request may be in the topic too, so the next replay repeats them. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';

  constructor(
    readonly result: ReplayResult,
    cause: unknown,
  ) {
    super(getErrorMessage(cause), { cause });
  }
}

/** Returns why a replay between these positions cannot send what the caller expects; null if it can. */
export const findReplayRefusal = async (
  { from, toPosition: end, isLive }: Pick<ReplayRequest, 'from' | 'toPosition' | 'isLive'>,
  run: QueryRunner,
): Promise<string | null> => {
  const start = 'position' in from ? from.position : null;
  if (start !== null && end !== null && end < start)
    return `--to-position: must be at least the position of --from, which is ${start}, got ${end}`;
  const [row] = castRows<LastPositionRow>(await run(selectLastPosition()));
  const last = row?.position ?? 0;
  if (start !== null && start > last) return `--from: the last position of the log is ${last}, got ${start}`;
  if (end !== null && end > last) return `--to-position: the last position of the log is ${last}, got ${end}`;
  return isLive ? findUnpublishedStart(from, run) : null;
};

const findUnpublishedStart = async (from: ReplayStart, run: QueryRunner): Promise<string | null> => {
  const [first] = castRows<LogPosition>(await run(selectReplayStart(from)));
  const published = await findPublishedEnd(run);
  if (!first || (published && !isAfter(first, published))) return null;
  return `--from: the publisher has not sent the event at position ${first.position} yet; wait until it has, or choose a new topic`;
};

/**
 * Sends events of the log to a topic again, in the order of the log, as the publisher sends them, with a header. Changes no
 * checkpoint. Stops after the present page if the signal aborts. Throws a ReplayError if the brokers do not accept messages.
 */
export const replayLog = async (request: ReplayRequest, dependencies: ReplayDependencies): Promise<ReplayResult> => {
  const { store, run, signal, sender, report } = dependencies;
  const [first] = castRows<LogPosition>(await run(selectReplayStart(request.from)));
  const last = await findLast(request, run);
  if (!first || !last) return { sent: 0, next: null };
  const matches = createFilter(request, last);
  const pace = new SendPace(request.rate, dependencies.clock);
  let position: LogPosition = { transaction: first.transaction, position: first.position - 1 };
  let sent = 0;
  while (isAfter(last, position)) {
    if (signal.aborted) return { sent, next: await findNext(position, dependencies) };
    pace.beginPage();
    const limit = Math.min(PAGE, request.rate);
    const events = await store.log.read(position, limit, run, { only: request.types, outside: true });
    const end = events.at(-1);
    if (!end) break;
    const messages = events.filter(matches).map((event) => toReplayMessage(event, request.topic, dependencies));
    if (messages.length > 0) {
      await sender.send(messages).catch(async (error: unknown) => {
        throw new ReplayError({ sent, next: await findNext(position, dependencies) }, error);
      });
    }
    position = toPosition(end);
    sent += messages.length;
    report({ sent, position: end.position });
    await pause(pace.getPause(messages.length), signal);
  }
  return { sent, next: null };
};

/** Returns the position up to which the publisher has sent all events. Undefined before its first batch. */
const findPublishedEnd = async (run: QueryRunner): Promise<LogPosition | undefined> =>
  castRows<FollowerPosition>(await run(selectCheckpoints())).find(({ follower }) => follower === PUBLISHER);

const findLast = async (
  { toPosition: end, isLive }: Pick<ReplayRequest, 'toPosition' | 'isLive'>,
  run: QueryRunner,
): Promise<LogPosition | undefined> => {
  const [last] = castRows<LogPosition>(await run(selectReplayEnd(end)));
  if (!last || !isLive) return last;
  const published = await findPublishedEnd(run);
  return published && findEarliest([last, published]);
};

/** A page of some types also contains its last event, whatever its type. */
const createFilter = ({ types, toPosition: limit }: ReplayRequest, last: LogPosition) => {
  const names = types === null ? null : new Set(types);
  return (event: RecordedEvent): boolean =>
    !isAfter(event, last) && (limit === null || event.position <= limit) && (names === null || names.has(event.type));
};

const toReplayMessage = (
  event: RecordedEvent,
  topic: string,
  { registry, origin }: Pick<ReplayDependencies, 'registry' | 'origin'>,
): OutboundMessage => {
  const message = toKafkaMessage(event, getEventKind(registry, event.type), origin);
  return { ...message, topic, headers: { ...message.headers, [REPLAY_HEADER]: 'true' } };
};

const findNext = async (after: LogPosition, { store, run }: Pick<ReplayDependencies, 'store' | 'run'>) => {
  const [next] = await store.log.read(after, 1, run, { keepEncrypted: true });
  return next?.position ?? null;
};
