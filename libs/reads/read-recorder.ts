import { Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal, unavailable, type EventContext, type Ids, type Message } from '#kernel';
import { createEventContext, isOutdatedAccessError, type Actor } from '#access';
import type { EventStore, IdempotentWrite } from '#event-store';

/** What is waiting to be appended to one stream, and the end of that: whoever asks meanwhile comes along. */
type PendingAppend = {
  readonly write: IdempotentWrite & { readonly events: IdempotentWrite['events'][number][] };
  readonly appended: PromiseWithResolvers<void>;
};

/** Each locks its stream and its accessor: Postgres has room for some thousands of locks, of all transactions together. */
const MAX_STREAMS_PER_APPEND = 100;

/** How long those that come later wait for an append, to go with the next one: longer only where somebody holds it up. */
const MAX_APPEND_WAIT_MS = 250;

/**
 * The catalogue lists reads as well (contract §6.1). Each is an event that is in the log before the answer goes out: one
 * that cannot be recorded is not answered.
 *
 * They stand in streams of their own, one for each accessor in an organization, at any version: no writer is disturbed by
 * who reads. What several requests show at the same time is appended at once, so that a hundred plans which begin together
 * cost a few commits and do not queue for one stream.
 */
export class ReadRecorder {
  private readonly logger = new Logger(ReadRecorder.name);
  private readonly waiting = new Map<string, PendingAppend>();
  private isAppending = false;

  constructor(
    private readonly store: Pick<EventStore, 'appendOnce' | 'untilFirst'>,
    private readonly ids: Ids,
    private readonly options: { readonly recorded: boolean; readonly turnMs?: number },
  ) {}

  /** Of what belongs to no organization there is no trail. The type of the event is named: `record<SshKeyRead>(…)`. */
  record<E extends Message = never>(
    actor: Actor,
    organization: string | null,
    ...events: readonly NoInfer<E>[]
  ): Promise<void> {
    return this.recordAs<E>(createEventContext(actor), organization, ...events);
  }

  /** For who holds a signed link. */
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

  /** One after the other, so that what comes meanwhile goes together. */
  private async appendAll(): Promise<void> {
    this.isAppending = true;
    while (this.waiting.size > 0) {
      const some = [...this.waiting.values()].slice(0, MAX_STREAMS_PER_APPEND);
      for (const { write } of some) this.waiting.delete(write.stream);
      await waitAtMost(this.append(some), this.options.turnMs ?? MAX_APPEND_WAIT_MS);
    }
    this.isAppending = false;
  }

  /** Never rejects. Where one of them fails an append the others go each by themselves, and nobody waits for that. */
  private async append(some: readonly PendingAppend[]): Promise<void> {
    try {
      await this.store.untilFirst(() => this.store.appendOnce(some.map(({ write }) => write)));
      for (const { appended } of some) appended.resolve();
    } catch (error) {
      if (some.length > 1) for (const one of some) void this.append([one]);
      else for (const { appended } of some) appended.reject(this.refusalFor(error));
    }
  }

  private refusalFor(error: unknown): Error {
    if (error instanceof Refusal) return error;
    // Who reads has been forgotten: they are asked anew who they are.
    if (error instanceof Error && isOutdatedAccessError(error)) return error;
    this.logger.error(error);
    return unavailable('What is read could not be recorded, so it is not shown. Please try again.', 5);
  }
}

const createPendingAppend = (write: Omit<IdempotentWrite, 'events'>): PendingAppend => ({
  write: { ...write, events: [] },
  appended: Promise.withResolvers<void>(),
});

/** Resolves when it is done, or when its turn is over. */
const waitAtMost = async (work: Promise<void>, turnMs: number): Promise<void> => {
  const over = new AbortController();
  await Promise.race([work, wait(turnMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
};

/** The content, once that is recorded; where it cannot be, nobody will read it. */
export const releaseOnceRecorded = async (content: Readable, recorded: Promise<void>): Promise<Readable> => {
  try {
    await recorded;
    return content;
  } catch (error) {
    content.destroy();
    throw error;
  }
};
