import { Readable } from 'node:stream';
import type { Refusal } from '#platform/kernel';
import type { BodyMemory, UnfinishedBody } from './body-memory.js';

/**
 * A body that its reader keeps in memory until it is complete. Its bytes count as memory of unfinished bodies while
 * they are kept. Bytes are read only when the stream is read, so a request without permission costs nothing. The stream
 * ends with a refusal if the memory does not suffice.
 */
export class BudgetedBody extends Readable {
  private readonly body: UnfinishedBody;
  private isStarted = false;
  private isReserved = true;

  constructor(
    private readonly content: Readable,
    caller: string,
    private readonly memory: BodyMemory,
  ) {
    super();
    const refuse = (refusal: Refusal): void => {
      this.release();
      this.destroy(refusal);
    };
    this.body = { caller, bytes: 0, refuse };
    // Without a listener, an error after the reader has stopped would end the process.
    this.on('error', () => undefined);
  }

  /** Stops counting, because the reader no longer keeps the bytes. Later bytes are read and dropped. */
  release(): void {
    this.isReserved = false;
    this.memory.remove(this.body);
  }

  override _read(): void {
    if (!this.isStarted) this.start();
    this.content.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.release();
    this.content.resume();
    done(error);
  }

  private start(): void {
    this.isStarted = true;
    this.content.on('data', (piece: Buffer) => this.receive(piece));
    this.content.once('end', () => {
      this.release();
      this.push(null);
    });
    this.content.once('error', (error) => this.destroy(error));
    this.content.once('close', () => {
      if (!this.content.readableEnded) this.destroy(new Error('The body was cut short'));
    });
  }

  private receive(piece: Buffer): void {
    if (this.destroyed) return;
    if (this.isReserved) this.memory.add(this.body, piece.length);
    // `add` may have refused this body.
    if (!this.destroyed && !this.push(piece)) this.content.pause();
  }
}
