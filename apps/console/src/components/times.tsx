import { VisuallyHidden } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useExactTimes } from './exact-times.js';
import classes from './times.module.css';

/* Times in the zone and language of the reader. */

const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const shortFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const UNITS = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['week', 7 * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
] as const;

/** Returns the time with its zone, to the second. */
export const formatExactTime = (iso: string): string => exactFormat.format(new Date(iso));

/** Returns how far the time is from `now`, such as `3 minutes ago`. */
const formatRelativeTime = (iso: string, now: number): string => {
  const distance = new Date(iso).getTime() - now;
  const length = Math.abs(distance);
  // 59 minutes and 40 seconds are one hour, and not 60 minutes.
  const unit = UNITS.find(([, least], index) => {
    const smaller = UNITS[index + 1]?.[1] ?? 1;
    return length >= least || Math.round(length / smaller) * smaller === least;
  });
  return unit ? relativeFormat.format(Math.round(distance / unit[1]), unit[0]) : 'just now';
};

const TICK_MS = 30 * SECOND;

/** One timer for all times on the screen. */
const clock = {
  now: Date.now(),
  listeners: new Set<() => void>(),
  timer: undefined as ReturnType<typeof setInterval> | undefined,
};

const tick = (): void => {
  clock.now = Date.now();
  for (const listener of clock.listeners) listener();
};

const subscribe = (listener: () => void): (() => void) => {
  if (clock.listeners.size === 0) {
    clock.now = Date.now();
    clock.timer = setInterval(tick, TICK_MS);
  }
  clock.listeners.add(listener);
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size === 0) clearInterval(clock.timer);
  };
};

/** Returns the present time in milliseconds, and renders again when half a minute has passed. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => clock.now);

/** Returns the last midnight in the time zone of the reader, and renders again after the next one. */
export const useMidnight = (): string => new Date(new Date(useNow()).setHours(0, 0, 0, 0)).toISOString();

/** Shows how long ago something happened. People who point at it see the exact time, and screen readers read it. */
export const RelativeTime = ({ value }: { readonly value: string }) => {
  const now = useNow();
  return (
    <time dateTime={value} title={formatExactTime(value)} className={classes['time']}>
      {formatRelativeTime(value, now)}
      <VisuallyHidden> ({formatExactTime(value)})</VisuallyHidden>
    </time>
  );
};

/** Returns the date and the time to the second, without the zone. */
export const formatShortTime = (iso: string): string => shortFormat.format(new Date(iso));

/** Shows a date and a time to the second, for lists in which the order of events matters. */
export const ExactTime = ({ value }: { readonly value: string }) => (
  <time dateTime={value} title={formatExactTime(value)} className={classes['time']}>
    {formatShortTime(value)}
  </time>
);

/** Shows how long ago something happened, or when, as the reader chose in the account menu. */
export const Time = ({ value }: { readonly value: string }) =>
  useExactTimes() ? <ExactTime value={value} /> : <RelativeTime value={value} />;
