import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LogPart } from '../format/backup-manifest.js';
import { findCut, type CutEvent, type RestoreTarget } from './restore-cut.js';

type TestPart = readonly CutEvent[];

/** Logs in their order: positions of concurrent transactions can be in another order, and so can times. */
const logs: fc.Arbitrary<readonly TestPart[]> = fc
  .array(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })
  .chain((transactions) => {
    const count = transactions.flat().length;
    return fc.tuple(
      fc.constant(transactions),
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, n) => n + 1),
        { minLength: count, maxLength: count },
      ),
      fc.array(fc.boolean(), { minLength: transactions.length, maxLength: transactions.length }),
    );
  })
  .map(([transactions, positions, ends]) => {
    const parts: CutEvent[][] = [[]];
    let next = 0;
    for (const [index, times] of transactions.entries()) {
      for (const ms of times)
        parts.at(-1)?.push({ transaction: String(index + 10), position: positions[next++] as number, ms });
      if (ends[index] && index < transactions.length - 1) parts.push([]);
    }
    return parts;
  });

const describeParts = (parts: readonly TestPart[]): readonly LogPart[] =>
  parts.map((events, index) => ({
    name: String(index),
    lines: events.length + 1,
    sha256: '',
    lastTransaction: events.at(-1)?.transaction ?? '',
    minPosition: Math.min(...events.map(({ position }) => position)),
    maxPosition: Math.max(...events.map(({ position }) => position)),
    maxTime: Math.max(...events.map(({ ms }) => ms)),
  }));

/** Returns the restored and the left out events; null if the backup has no such position. */
const cutLog = async (parts: readonly TestPart[], target: RestoreTarget) => {
  const cut = await findCut({ log: [...describeParts(parts)] }, target, (part) =>
    Promise.resolve(parts[Number(part.name)] ?? []),
  );
  if (!cut) return null;
  const count = parts.slice(0, cut.parts).flat().length + cut.events;
  const events = parts.flat();
  expect(cut.isWhole).toBe(count === events.length);
  return { restored: events.slice(0, count), omitted: events.slice(count) };
};

const expectCompleteTransactions = (restored: readonly CutEvent[], omitted: readonly CutEvent[]): void => {
  expect(restored.at(-1)?.transaction).not.toBe(omitted[0]?.transaction ?? 'none');
};

describe('findCut', () => {
  it('takes the whole log without a target', async () => {
    await fc.assert(
      fc.asyncProperty(logs, async (parts) => {
        expect((await cutLog(parts, { to: 'end' }))?.omitted).toEqual([]);
      }),
    );
  });

  it('ends with the transaction of the event at the position', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.nat(), async (parts, n) => {
        const events = parts.flat();
        const { position } = events[n % events.length] as CutEvent;
        const { restored = [], omitted = [] } = (await cutLog(parts, { to: 'position', position })) ?? {};
        expect(restored.some((event) => event.position === position)).toBe(true);
        expect(restored.at(-1)?.transaction).toBe(events.find((event) => event.position === position)?.transaction);
        expectCompleteTransactions(restored, omitted);
      }),
    );
  });

  it('is null for a position that no event has', async () => {
    await fc.assert(
      fc.asyncProperty(logs, async (parts) => {
        expect(await cutLog(parts, { to: 'position', position: parts.flat().length + 1 })).toBeNull();
      }),
    );
  });

  it('ends before the first transaction with a later event than the time', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.integer({ min: -1, max: 51 }), async (parts, ms) => {
        const { restored = [], omitted = [] } = (await cutLog(parts, { to: 'time', ms })) ?? {};
        expect(restored.every((event) => event.ms <= ms)).toBe(true);
        const next = omitted.filter(({ transaction }) => transaction === omitted[0]?.transaction);
        expect(next.length === 0 || next.some((event) => event.ms > ms)).toBe(true);
        expectCompleteTransactions(restored, omitted);
      }),
    );
  });
});
