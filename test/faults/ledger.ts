import { expect } from '@jest/globals';
import type { RecordedEvent } from '#kernel';

/**
 * What clients know of what they asked for. Each request has an id of its own, which the log keeps with the event: so
 * every answer can be held against what was really written.
 *
 * - **acknowledged**: answered with success. Its event is in the log, once.
 * - **refused**: answered with a no. There is no event of it.
 * - **unknown**: no answer, or one that says that the database was away. Its event is there once or not at all.
 */
export type RequestOutcome = 'acknowledged' | 'refused' | 'unknown';

export type LedgerLine = {
  readonly request: string;
  readonly event: string;
  readonly stream: string | null;
  readonly outcome: RequestOutcome;
};

export class RequestLedger {
  readonly lines: LedgerLine[] = [];
  private waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  note(line: LedgerLine): void {
    this.lines.push(line);
    const count = this.count('acknowledged');
    for (const one of this.waiting.filter((each) => each.count <= count)) one.resolve();
    this.waiting = this.waiting.filter((each) => each.count > count);
  }

  count(outcome: RequestOutcome): number {
    return this.lines.filter((line) => line.outcome === outcome).length;
  }

  /** Resolves when so many more have been acknowledged. */
  more(acknowledged: number): Promise<void> {
    const count = this.count('acknowledged') + acknowledged;
    return new Promise((resolve) => this.waiting.push({ count, resolve }));
  }
}

/** Every answer that was given is true of the log, and nothing is in it that nobody asked for. */
export const expectToAgree = ({ lines }: RequestLedger, log: readonly RecordedEvent[]): void => {
  const byRequest = Map.groupBy(log, ({ context }) => context.request.id ?? '');
  const untrue = lines.flatMap((line) => {
    const events = byRequest.get(line.request) ?? [];
    const written = events.filter(({ type }) => type === line.event);
    const right =
      line.outcome === 'unknown' ? written.length <= 1 : written.length === (line.outcome === 'acknowledged' ? 1 : 0);
    const placed = line.stream === null || written.every(({ stream }) => stream === line.stream);
    return right && placed ? [] : [{ ...line, written: events.map(({ type, stream }) => `${type} of ${stream}`) }];
  });
  expect(untrue).toEqual([]);
  const asked = new Set(lines.map(({ request }) => request));
  const unasked = log.filter(({ context: { auth, request } }) => auth === 'Client' && !asked.has(request.id ?? ''));
  expect(unasked.map(({ id, type }) => ({ id, type }))).toEqual([]);
};

/** Each stream has its versions from 1 on, without a gap and none twice, and each event has an id of its own. */
export const expectGaplessStreams = (log: readonly RecordedEvent[]): void => {
  const broken = [...Map.groupBy(log, ({ stream }) => stream)]
    .map(([stream, events]) => ({ stream, versions: events.map(({ version }) => version) }))
    .filter(({ versions }) => versions.some((version, index) => version !== index + 1));
  expect(broken).toEqual([]);
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
};
