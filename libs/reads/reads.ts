import { Logger } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { Refused, unavailable, type EventContext, type Ids, type Message } from '#kernel';
import { contextOf, type Actor } from '#access';
import type { EventStore, OnceWrite } from '#event-store';

/** What is waiting to be appended, and the end of that: whoever asks meanwhile comes along. */
type Batch = { readonly reads: Read[]; readonly appended: Promise<void> };

type Read = { readonly stream: string; readonly organization: string; readonly event: OnceWrite['events'][number] };

/**
 * The catalogue lists reads as well (contract §6.1). Each is an event that is in the log before the answer goes out: one
 * that cannot be recorded is not answered.
 *
 * They stand in streams of their own, one for each accessor in an organization, at any version: no writer is disturbed by
 * who reads. What several requests show at the same time is appended at once, so that a hundred plans which begin together
 * cost a few commits and do not queue for one stream.
 */
export class Reads {
  private readonly logger = new Logger(Reads.name);
  private gathering: Batch | null = null;
  /** Never rejects. */
  private before: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Pick<EventStore, 'appendOnce' | 'untilFirst'>,
    private readonly ids: Ids,
    private readonly options: { readonly recorded: boolean },
  ) {}

  /** Of what belongs to no organization there is no trail. The type of the event is named: `record<SshKeyRead>(…)`. */
  record<E extends Message = never>(
    actor: Actor,
    organization: string | null,
    ...events: readonly NoInfer<E>[]
  ): Promise<void> {
    return this.recordAs<E>(contextOf(actor), organization, ...events);
  }

  /** For who holds a signed link. */
  async recordAs<E extends Message = never>(
    context: EventContext,
    organization: string | null,
    ...events: readonly NoInfer<E>[]
  ): Promise<void> {
    if (!this.options.recorded || organization === null || events.length === 0) return;
    const stream = `reads/${organization}/${context.accessor.id}`;
    const reads = events.map((event) => ({ stream, organization, event: { ...event, id: this.ids.uuid(), context } }));
    this.gathering ??= this.begin();
    this.gathering.reads.push(...reads);
    await this.gathering.appended;
  }

  private begin(): Batch {
    const reads: Read[] = [];
    const appended = this.before.then(() => {
      this.gathering = null;
      return this.append(reads);
    });
    this.before = appended.catch(() => undefined);
    return { reads, appended };
  }

  private async append(reads: readonly Read[]): Promise<void> {
    const writes = [...Map.groupBy(reads, ({ stream }) => stream).values()].map((all): OnceWrite => {
      const [{ stream, organization }] = all as [Read];
      return { stream, organization, events: all.map(({ event }) => event) };
    });
    try {
      await this.store.untilFirst(() => this.store.appendOnce(writes));
    } catch (error) {
      if (error instanceof Refused) throw error;
      this.logger.error(error);
      throw unavailable('What is read could not be recorded, so it is not shown. Please try again.', 5);
    }
  }
}

/** The content, once that is recorded; where it cannot be, nobody will read it. */
export const shownOnce = async (content: Readable, recorded: Promise<void>): Promise<Readable> => {
  try {
    await recorded;
    return content;
  } catch (error) {
    content.destroy();
    throw error;
  }
};
