const HOUR_SECONDS = 3_600;
const MINUTE_SECONDS = 60;

/** A run has a token for 24 hours, so a phase that may take longer could not read modules and providers to its end. */
const MAX_SECONDS = 24 * HOUR_SECONDS;
const MIN_SECONDS = MINUTE_SECONDS;

const FORM = /^(?=\d)(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,5})s)?$/;

export const TIME_LIMIT_RULE = 'must be a time from 1m to 24h, such as 90m or 1h30m';

/** Returns the seconds of a time such as `1h30m`; null if the text is no time, or not from one minute to 24 hours. */
export const parseTimeLimit = (text: string): number | null => {
  const [match, hours = 0, minutes = 0, seconds = 0] = FORM.exec(text) ?? [];
  if (match === undefined) return null;
  const total = Number(hours) * HOUR_SECONDS + Number(minutes) * MINUTE_SECONDS + Number(seconds);
  return total < MIN_SECONDS || total > MAX_SECONDS ? null : total;
};

/** The times that phases may take if no administrator has set others, as the vendor's. */
export const DEFAULT_TIME_LIMITS = { plan: '2h', apply: '24h' } as const;

/** The longest times that administrators have set, such as `2h`; null for the default. */
export type TimeLimits = Readonly<Record<keyof typeof DEFAULT_TIME_LIMITS, string | null>>;

const DEFAULT_SECONDS = { plan: 2 * HOUR_SECONDS, apply: MAX_SECONDS } as const;

/** Returns the seconds that a phase may take. */
export const getTimeLimitSeconds = (phase: keyof TimeLimits, limit: string | null): number =>
  parseTimeLimit(limit ?? '') ?? DEFAULT_SECONDS[phase];
