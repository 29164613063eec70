import type { ClientBase, Pool } from 'pg';
import { ConsumerPositions } from './consumer-positions.js';
import { createTables } from './consumer-tables.js';
import { DeadLetters, type DeadLetter, type FailedKey, type StoredRecord, type TopicOffset } from './dead-letters.js';
import { isConflict, isLockTimeout, toHandlerFailure } from './handler-failure.js';
import { HandlerCaller, type RecordHandler } from './record-handler.js';
import { describeOffset } from './record-transactions.js';
import { describeError, RetryPauses, type ConsumerLogger } from './retry-pauses.js';
import { inTransaction } from './transactions.js';

export type QueueOptions = {
  readonly database: Pool;
  readonly consumer: string;
  readonly schema: string;
  readonly handle: RecordHandler;
  readonly logger: ConsumerLogger;
};

export type RetryResult = { readonly handled: number; readonly left: number };

/** `gone`: another process has handled or discarded the dead letter. */
type LetterOutcome = 'handled' | 'gone' | 'failed';

/** Attempts at a dead letter whose record is not the cause of the failure, over 1.5 s. */
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
      const outcome = await this.retry(letter, signal);
      if (outcome === 'handled') handled += 1;
      if (outcome === 'failed' && record.key !== null) failed.push({ topic, key: record.key });
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

  /**
   * Tries one dead letter, several times if its record is not the cause of the failure. Rejects if Postgres stays unavailable.
   * After conflicts with other transactions the letter has failed, so that the letters of other keys are handled.
   */
  private async retry(letter: StoredRecord, signal: AbortSignal): Promise<LetterOutcome> {
    const { logger } = this.options;
    const pauses = new RetryPauses(logger, signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.handle(letter)) ? 'handled' : 'gone';
      } catch (error) {
        const message = `${describeOffset(letter)} failed again: ${describeError(error)}`;
        // A lock timeout has waited for 10 s already.
        const isLast = attempt === RETRY_ATTEMPTS || isLockTimeout(error) || signal.aborted;
        if (toHandlerFailure(error) !== null || (isLast && isConflict(error))) {
          logger.warn(message);
          return 'failed';
        }
        if (isLast) throw error;
        await pauses.failed(message);
      }
    }
  }

  /** Handles a dead letter and removes it, in one transaction. Returns false if another process has removed it. */
  private handle(letter: StoredRecord): Promise<boolean> {
    return this.transact(async (client) => {
      // The partition adds no record behind this one until the transaction ends.
      await this.positions.lock(client, letter);
      if (!(await this.letters.remove(client, letter))) return false;
      await this.handler.call({ client, topic: letter.topic, record: letter.record });
      return true;
    });
  }
}
