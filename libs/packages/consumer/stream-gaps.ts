import type { ConsumerLogger } from './retry-pauses.js';

export type StreamProgress = {
  readonly topic: string;
  readonly stream: string;
  readonly version: number;
  /** The version that was stored before. Null if the stream is new for the consumer. */
  readonly previous: number | null;
};

/** Twice as many as the records of a transaction by default. */
const REMEMBERED = 1_000;

/**
 * Warns about versions that are missing in a stream: Cadastre publishes each one. Logs the gaps 1, 2, 4, 8 …, because a topic
 * whose first records were deleted has a gap in each stream.
 */
export class StreamGaps {
  private gaps = 0;
  /** The latest gaps, oldest first: the records of a transaction that fails are handled again. */
  private readonly counted = new Set<string>();

  constructor(private readonly logger: ConsumerLogger) {}

  check({ topic, stream, version, previous }: StreamProgress): void {
    const expected = (previous ?? 0) + 1;
    if (version <= expected) return;
    const gap = `the stream ${stream} of ${topic} continues at version ${version} instead of ${expected}`;
    if (this.counted.has(gap)) return;
    this.remember(gap);
    this.gaps += 1;
    if (!Number.isInteger(Math.log2(this.gaps))) return;
    this.logger.warn(
      `${gap}: events are missing, or the record is not from Cadastre. Gaps since the start: ${this.gaps}`,
    );
  }

  private remember(gap: string): void {
    this.counted.add(gap);
    const [oldest] = this.counted;
    if (this.counted.size > REMEMBERED && oldest !== undefined) this.counted.delete(oldest);
  }
}
