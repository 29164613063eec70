import { expect, it } from '@jest/globals';
import { listDueHashes } from './assessment-schedule.js';

const DAY_SECONDS = 86_400;
const HASHES = 2 ** 31;
const START = Date.parse('2026-11-21T00:00:00.000Z');

const periodsOf = (hash: number, minutes: readonly number[]): readonly number[] =>
  minutes.flatMap((minute) =>
    listDueHashes(new Date(START + minute * 60_000), DAY_SECONDS)
      .filter(({ after, to }) => hash > after && hash <= to)
      .map(({ period }) => period),
  );

it.each([0, 1, HASHES / 24, HASHES / 2, HASHES - 1])('makes the hash %d due once a day, for an hour', (hash) => {
  const days = 3;
  const minutes = Array.from({ length: days * 24 * 60 }, (_, minute) => minute);
  const due = periodsOf(hash, minutes);
  const complete = [...Map.groupBy(due, (period) => period).values()].filter(({ length }) => length > 50);
  expect([days, days + 1]).toContain(new Set(due).size);
  expect(complete.length).toBeGreaterThanOrEqual(days - 1);
  for (const { length } of complete) expect(Math.abs(length - 60)).toBeLessThanOrEqual(1);
});

it('makes about a twenty-fourth of all hashes due at each time, and names none twice', () => {
  for (let minute = 0; minute < 24 * 60; minute += 7) {
    const ranges = listDueHashes(new Date(START + minute * 60_000), DAY_SECONDS);
    const number = ranges.reduce((sum, { after, to }) => sum + to - after, 0);
    expect(Math.abs(number - HASHES / 24)).toBeLessThanOrEqual(2);
    for (const { after, to } of ranges) expect([after >= -1, to < HASHES]).toEqual([true, true]);
  }
});
