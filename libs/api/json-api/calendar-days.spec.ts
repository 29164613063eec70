import { describe, expect, it } from '@jest/globals';
import { listLastDays } from './calendar-days.js';
import { parseCalendarDays } from './day-filters.js';

const NOW = new Date('2026-03-29T12:00:00Z');
const HOUR = 60 * 60 * 1_000;

const format = (timeZone: string, time: number): string => {
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(time);
  return text.replace(' ', 'T');
};

describe('the last days of a calendar', () => {
  it('end with today in the time zone', () => {
    const late = new Date('2026-03-01T23:30:00Z');
    expect(listLastDays(late, 2, 'UTC').dates).toEqual(['2026-02-28', '2026-03-01']);
    expect(listLastDays(late, 2, 'Europe/Berlin').dates).toEqual(['2026-03-01', '2026-03-02']);
  });

  it('have 23 or 25 hours when the clock changes', () => {
    const hours = (now: string): readonly number[] => {
      const { bounds } = listLastDays(new Date(now), 3, 'Europe/Berlin');
      return bounds.slice(1).map((end, index) => (end - (bounds[index] ?? 0)) / HOUR);
    };
    expect(hours('2026-03-30T12:00:00Z')).toEqual([24, 23, 24]);
    expect(hours('2026-10-26T12:00:00Z')).toEqual([24, 25, 24]);
  });

  // Zones whose clock changes at midnight, and zones with large and odd offsets.
  it.each(['Africa/Cairo', 'America/Santiago', 'America/Havana', 'Asia/Beirut', 'Pacific/Auckland', 'Pacific/Chatham'])(
    'begin at the first instant of the day in %s',
    (zone) => {
      const year = ['2026-02-20', '2026-05-15', '2026-08-10', '2026-11-20'].map((day) => new Date(`${day}T09:00:00Z`));
      for (const { dates, bounds } of year.map((now) => listLastDays(now, 90, zone))) {
        const numbered = bounds
          .slice(0, -1)
          .map((time) => [format(zone, time).slice(0, 10), format(zone, time - 1).slice(0, 10)]);
        expect(numbered.map(([first]) => first)).toEqual(dates);
        expect(numbered.filter(([first, before]) => first === before)).toEqual([]);
      }
    },
  );

  it('are 30 days of UTC if the request asks for nothing else', () => {
    const { dates, timeZone } = parseCalendarDays({}, NOW);
    expect([dates.length, dates.at(-1), timeZone]).toEqual([30, '2026-03-29', 'UTC']);
  });

  it.each([
    ['filter[days]', '0'],
    ['filter[days]', '91'],
    ['filter[days]', '-1'],
    ['filter[days]', '1.5'],
    ['filter[days]', '1e1'],
    ['filter[time-zone]', 'Mars/Olympus'],
    ['filter[time-zone]', '+02:00'],
    ['filter[time-zone]', "UTC'; --"],
  ])('refuse %s=%s', (name, value) => {
    expect(() => parseCalendarDays({ [name]: value }, NOW)).toThrow(
      expect.objectContaining({ kind: 'bad-request', problems: [expect.objectContaining({ parameter: name })] }),
    );
  });
});
