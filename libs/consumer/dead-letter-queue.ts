import type { Pool } from 'pg';
import { ConsumerPositions } from './consumer-positions.js';
import { DeadLetters, type DeadLetter, type StoredRecord } from './dead-letters.js';
import { toHandlerFailure } from './handler-failure.js';
import { HandlerCaller, type RecordHandler } from './record-handler.js';
import { describeOffset } from './record-transactions.js';
import type { ConsumerLogger } from './retry-pauses.js';
import { inTransaction } from './transactions.js';

export type QueueOptions = {
  readonly database: Pool;
  readonly consumer: string;
  readonly schema: string;
  readonly handle: RecordHandler;
  readonly logger: ConsumerLogger;
};

export type RetryResult = { readonly handled: number; readonly left: number };

/** Attempts at a dead letter whose transaction fails with a deadlock or a serialization failure. */
const RETRY_ATTEMPTS = 5;

/** The dead letters of a consumer, for its operator. */
export class DeadLetterQueue {
  private readonly letters: DeadLetters;
  private readonly positions: ConsumerPositions;
  private readonly handler: HandlerCaller;

  constructor(private readonly options: QueueOptions) {
    this.letters = new DeadLetters(options.consumer, options.schema);
    this.positions = new ConsumerPositions(options.consumer, options.schema);
    this.handler = new HandlerCaller(options.handle, this.positions, options.logger);
  }

  /** Returns the dead letters in the order of their topics. */
  list(): Promise<readonly DeadLetter[]> {
    return inTransaction(this.options.database, (client) => this.letters.list(client));
  }

  /** Handles dead letters again, in order. If one fails, the later ones of its key wait. Ends early after an abort. */
  async retryAll(signal: AbortSignal): Promise<RetryResult> {
    const failedKeys = new Set<string>();
    let handled = 0;
    let last: StoredRecord | null = null;
    while (!signal.aborted) {
      const letter: StoredRecord | null = await this.findNext(last);
      if (letter === null) break;
      last = letter;
      const key = `${letter.topic} ${letter.record.key?.toString('hex') ?? letter.offset}`;
      if (failedKeys.has(key)) continue;
      if (await this.retry(letter)) handled += 1;
      else failedKeys.add(key);
    }
    return { handled, left: (await this.list()).length };
  }

  /** Forgets how far a topic was read, and its dead letters. */
  async reset(topic: string): Promise<void> {
    await inTransaction(this.options.database, async (client) => {
      await this.positions.remove(client, topic);
      await this.letters.removeAll(client, topic);
    });
  }

  private findNext(after: StoredRecord | null): Promise<StoredRecord | null> {
    return inTransaction(this.options.database, (client) => this.letters.findNext(client, after));
  }

  private async retry(letter: StoredRecord): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.handle(letter);
        return true;
      } catch (error) {
        const failure = toHandlerFailure(error);
        if (failure === null && attempt < RETRY_ATTEMPTS) continue;
        if (failure === null) throw error;
        this.options.logger.warn(`${describeOffset(letter)} failed again: ${failure.message}`);
        return false;
      }
    }
  }

  /** Handles a dead letter and removes it, in one transaction. */
  private async handle(letter: StoredRecord): Promise<void> {
    await inTransaction(this.options.database, async (client) => {
      // The partition adds no record behind this one until the transaction ends.
      await this.positions.lock(client, letter);
      if (!(await this.letters.remove(client, letter))) return;
      await this.handler.call({ client, topic: letter.topic, record: letter.record });
    });
  }
}
