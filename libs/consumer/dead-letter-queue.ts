import type { ClientBase, Pool } from 'pg';
import { ConsumerPositions } from './consumer-positions.js';
import { createTables } from './consumer-tables.js';
import { DeadLetters, type DeadLetter, type FailedKey, type StoredRecord, type TopicOffset } from './dead-letters.js';
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
  private hasTables = false;

  constructor(private readonly options: QueueOptions) {
    this.letters = new DeadLetters(options.consumer, options.schema);
    this.positions = new ConsumerPositions(options.consumer, options.schema);
    this.handler = new HandlerCaller(options.handle, this.positions, options.logger);
  }

  /** Returns the first dead letters, in the order of their topics. */
  list(limit: number): Promise<readonly DeadLetter[]> {
    return this.transact((client) => this.letters.list(client, limit));
  }

  /** Handles dead letters again, in order. If one fails, the later ones of its key wait. Ends early after an abort. */
  async retryAll(signal: AbortSignal): Promise<RetryResult> {
    const failed: FailedKey[] = [];
    let handled = 0;
    let last: StoredRecord | null = null;
    while (!signal.aborted) {
      const letter: StoredRecord | null = await this.findNext(last, failed);
      if (letter === null) break;
      last = letter;
      const { topic, record } = letter;
      if (await this.retry(letter)) handled += 1;
      else if (record.key !== null) failed.push({ topic, key: record.key });
    }
    return { handled, left: await this.transact((client) => this.letters.count(client)) };
  }

  /** Removes a dead letter without handling it. Returns false if there is none at this offset. */
  discard(location: TopicOffset): Promise<boolean> {
    return this.transact(async (client) => {
      // Waits for a retry of this dead letter.
      await this.positions.lock(client, location);
      return this.letters.remove(client, location);
    });
  }

  /** Forgets how far a topic was read, and its dead letters. */
  async reset(topic: string): Promise<void> {
    await this.transact(async (client) => {
      await this.positions.remove(client, topic);
      await this.letters.removeAll(client, topic);
    });
  }

  private findNext(after: StoredRecord | null, failed: readonly FailedKey[]): Promise<StoredRecord | null> {
    return this.transact((client) => this.letters.findNext(client, after, failed));
  }

  /** Runs work in a transaction. The tables exist: a script can call each method before any start. */
  private async transact<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    const { database, schema } = this.options;
    if (!this.hasTables) await inTransaction(database, (client) => createTables(client, schema));
    this.hasTables = true;
    return inTransaction(database, work);
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
    await this.transact(async (client) => {
      // The partition adds no record behind this one until the transaction ends.
      await this.positions.lock(client, letter);
      if (!(await this.letters.remove(client, letter))) return;
      await this.handler.call({ client, topic: letter.topic, record: letter.record });
    });
  }
}
