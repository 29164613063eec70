import { Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal, unavailable, type EventContext, type Ids, type Message } from '#platform/kernel';
import { createEventContext, isOutdatedAccessError, type Actor } from '#api/access';
import type { EventStore, IdempotentWrite } from '#storage/event-store';

/**
 * The events that wait for an append to one stream, and the promise of that append. Further reads of the caller are
 * added to it.
 */
type PendingAppend = {
  readonly write: IdempotentWrite & { readonly events: IdempotentWrite['events'][number][] };
  readonly appended: PromiseWithResolvers<void>;
};

/** Each stream locks itself and its caller. Postgres has some thousands of locks for all transactions together. */
const MAX_STREAMS_PER_APPEND = 100;

/**
 * Milliseconds that later reads wait for an append, to be appended together. Appends take longer only if another
 * transaction blocks them.
 */
const MAX_APPEND_WAIT_MS = 250;

/**
 * Records reads of the audit catalogue. Each read is an event that is in the log before the response is
 * sent. If it cannot be recorded, the request is refused.
 *
 * The events are in separate streams, one for each caller in an organization, at any version, so that reads never
 * conflict with writes. Reads of several requests are appended together, so that a hundred plans that start at the same
 * time cost a few commits and do not wait for one stream.
 */
export class ReadRecorder {
  private readonly logger = new Logger(ReadRecorder.name);
  private readonly waiting = new Map<string, PendingAppend>();
  private isAppending = false;

  constructor(
    private readonly store: Pick<EventStore, 'appendOnce' | 'retryOnConflict'>,
    private readonly ids: Ids,
    private readonly options: { readonly recorded: boolean; readonly turnMs?: number },
  ) {}

  /**
   * Records reads of the caller. Without an organization there is no audit trail, and nothing is recorded. Name the
   * type of the event: `record<SshKeyRead>(…)`.
   */
  record<E extends Message = never>(
    actor: Actor,
    organization: string | null,
    ...events: readonly NoInfer<E>[]
  ): Promise<void> {
    return this.recordAs<E>(createEventContext(actor), organization, ...events);
  }

  /** Records reads with a given context, for requests with a signed link. */
  async recordAs<E extends Message = never>(
    context: EventContext,
    organization: string | null,
    ...events: readonly NoInfer<E>[]
  ): Promise<void> {
    if (!this.options.recorded || organization === null || events.length === 0) return;
    const stream = `reads/${organization}/${context.accessor.id}`;
    const waiting =
      this.waiting.get(stream) ?? createPendingAppend({ stream, organization, writer: context.accessor.id });
    this.waiting.set(stream, waiting);
    waiting.write.events.push(...events.map((event) => ({ ...event, id: this.ids.uuid(), context })));
    if (!this.isAppending) void this.appendAll();
    await waiting.appended.promise;
  }

  /** Appends one batch after another, so that reads that arrive meanwhile are appended together. */
  private async appendAll(): Promise<void> {
    this.isAppending = true;
    while (this.waiting.size > 0) {
      const some = [...this.waiting.values()].slice(0, MAX_STREAMS_PER_APPEND);
      for (const { write } of some) this.waiting.delete(write.stream);
      await waitAtMost(this.append(some), this.options.turnMs ?? MAX_APPEND_WAIT_MS);
    }
    this.isAppending = false;
  }

  /**
   * Appends a batch. Never rejects. If it fails, each stream is appended separately in the background, so that one
   * failure affects only its own caller.
   */
  private async append(some: readonly PendingAppend[]): Promise<void> {
    try {
      await this.store.retryOnConflict(() => this.store.appendOnce(some.map(({ write }) => write)));
      for (const { appended } of some) appended.resolve();
    } catch (error) {
      if (some.length > 1) for (const one of some) void this.append([one]);
      else for (const { appended } of some) appended.reject(this.refusalFor(error));
    }
  }

  private refusalFor(error: unknown): Error {
    if (error instanceof Refusal) return error;
    // The caller has been forgotten. The request is repeated and identifies the caller again.
    if (error instanceof Error && isOutdatedAccessError(error)) return error;
    this.logger.error(error);
    return unavailable(
      'The read could not be recorded in the audit trail, so the content is not shown. Please try again.',
      5,
    );
  }
}

const createPendingAppend = (write: Omit<IdempotentWrite, 'events'>): PendingAppend => ({
  write: { ...write, events: [] },
  appended: Promise.withResolvers<void>(),
});

/** Resolves when the work is done or the time is over. */
const waitAtMost = async (work: Promise<void>, turnMs: number): Promise<void> => {
  const over = new AbortController();
  await Promise.race([work, wait(turnMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
};

/** Returns the content after the read is recorded. If that fails, destroys the content and throws. */
export const releaseOnceRecorded = async (content: Readable, recorded: Promise<void>): Promise<Readable> => {
  try {
    await recorded;
    return content;
  } catch (error) {
    content.destroy();
    throw error;
  }
};
