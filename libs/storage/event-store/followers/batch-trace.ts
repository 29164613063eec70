import type { RecordedEvent } from '#platform/kernel';
import { isTracing, openSpan, type OpenSpan } from '#platform/tracing';
import type { Follower } from './follower.js';

/**
 * The spans of a batch: one for each append of a recorded trace that has events in it. `events` name these spans, so that
 * what the follower does with an event is part of its span.
 */
export class BatchTrace {
  private constructor(
    readonly events: readonly RecordedEvent[],
    private readonly spans: readonly OpenSpan[],
  ) {}

  static start({ name }: Pick<Follower, 'name'>, events: readonly RecordedEvent[]): BatchTrace {
    if (!isTracing() || !events.some(({ traceparent }) => traceparent)) return new BatchTrace(events, []);
    const byAppend = Map.groupBy(events, ({ traceparent }) => traceparent ?? '');
    const spans = new Map(
      [...byAppend].map(([traceparent, own]) => {
        const attributes = {
          'cadastre.follower': name,
          'cadastre.events': own.length,
          'cadastre.batch': events.length,
        };
        return [traceparent, openSpan(traceparent, `follow ${name}`, { kind: 'CONSUMER', attributes })] as const;
      }),
    );
    return new BatchTrace(
      events.map((event) => {
        const span = spans.get(event.traceparent ?? '');
        return span ? { ...event, traceparent: span.traceparent } : event;
      }),
      [...spans.values()].filter((span) => span !== null),
    );
  }

  /** Ends the spans that have not ended yet. */
  end(error?: unknown): void {
    for (const span of this.spans) span.end(error);
  }
}
