import { expect } from '@jest/globals';
import type { RecordedEvent } from '#platform/kernel';

/**
 * What a client knows about the outcome of a request. Each request has its own id, which the log records with the
 * event, so that outcomes can be compared with the log.
 *
 * - **acknowledged**: the response was a success. The event is in the log once.
 * - **refused**: the response was a refusal. There is no event.
 * - **unknown**: there was no response, or it said that the database is not available. The event is in the log once or
 *   not at all.
 */
export type RequestOutcome = 'acknowledged' | 'refused' | 'unknown';

type LedgerLine = {
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

  /** Resolves when this number of further writes is acknowledged. */
  more(acknowledged: number): Promise<void> {
    const count = this.count('acknowledged') + acknowledged;
    return new Promise((resolve) => this.waiting.push({ count, resolve }));
  }
}

/** Expects each outcome to match the log, and no event of a client without a request in the ledger. */
export const expectToAgree = ({ lines }: RequestLedger, log: readonly RecordedEvent[]): void => {
  const byRequest = Map.groupBy(log, ({ context }) => context.request.id ?? '');
  const untrue = lines.flatMap((line) => {
    const events = byRequest.get(line.request) ?? [];
    const written = events.filter(({ type }) => type === line.event);
    const right =
      line.outcome === 'unknown' ? written.length <= 1 : written.length === (line.outcome === 'acknowledged' ? 1 : 0);
    const isInStream = line.stream === null || written.every(({ stream }) => stream === line.stream);
    return right && isInStream ? [] : [{ ...line, written: events.map(({ type, stream }) => `${type} of ${stream}`) }];
  });
  expect(untrue).toEqual([]);
  const requests = new Set(lines.map(({ request }) => request));
  const unasked = log.filter(({ context: { auth, request } }) => auth === 'Client' && !requests.has(request.id ?? ''));
  expect(unasked.map(({ id, type }) => ({ id, type }))).toEqual([]);
};

/**
 * Expects the versions of each stream to start at 1 without gaps or duplicates, and each event to have an id of its
 * own.
 */
export const expectGaplessStreams = (log: readonly RecordedEvent[]): void => {
  const broken = [...Map.groupBy(log, ({ stream }) => stream)]
    .map(([stream, events]) => ({ stream, versions: events.map(({ version }) => version) }))
    .filter(({ versions }) => versions.some((version, index) => version !== index + 1));
  expect(broken).toEqual([]);
  expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
};
