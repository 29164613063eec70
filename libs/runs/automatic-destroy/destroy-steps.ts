const HOUR_MS = 60 * 60 * 1_000;

/** A destroy needs a reminder that is at least so old. It is also the last reminder before the time. */
const NOTICE_HOURS = 12;
const EARLY_HOURS = 24;
/** How long after its time a destroy can still begin: the server was away, or the workspace was busy. */
const LATE_HOURS = 24;

/** The hours before the time at which people are reminded. */
export const REMINDERS = [NOTICE_HOURS, EARLY_HOURS] as const;

/** A destroy that was reminded of at the last possible time waits for the notice, and can then be late too. */
const PAST_HOURS = LATE_HOURS + NOTICE_HOURS + LATE_HOURS;

export const computeRange = (now: number): { readonly from: number; readonly to: number } => ({
  from: now - PAST_HOURS * HOUR_MS,
  to: now + EARLY_HOURS * HOUR_MS,
});

/** Returns the earliest time of a destroy that is planned for `at`, if the first reminder is recorded at `reminded`. */
export const computeEarliest = (at: number, reminded: number): number =>
  Math.max(at, reminded + NOTICE_HOURS * HOUR_MS);

/** Recorded reminders: the hours that they name, and when they were recorded. */
type RecordedReminders = ReadonlyMap<number, number>;

/** Returns what is due: the run, a reminder with its hours, or null. */
export const findDueStep = (
  at: number,
  recorded: RecordedReminders,
  now: number,
): { readonly type: 'destroy' } | { readonly type: 'remind'; readonly hours: number } | null => {
  const isLate = (time: number): boolean => now - time >= LATE_HOURS * HOUR_MS;
  if (recorded.size > 0) {
    const earliest = computeEarliest(at, Math.min(...recorded.values()));
    if (now >= earliest) return isLate(earliest) ? null : { type: 'destroy' };
  } else if (isLate(at)) return null;
  const hours = REMINDERS.find((before) => at - now <= before * HOUR_MS);
  return hours === undefined || recorded.has(hours) ? null : { type: 'remind', hours };
};
