import type { GeneralSettings } from './general-settings.js';
import type { ServerDefaults } from './server-defaults.js';

/** The vendor's default, which the settings show while there is no limit. */
const SHOWN_RATE_LIMIT = 30;

/** go-tfe fails on every request if the limit is lower. */
const LEAST_RATE = 4;

type RateLimitSettings = Pick<GeneralSettings, 'apiRateLimit' | 'apiRateLimitingEnabled'>;

/** Returns the limit, and whether it is on. */
export const describeRateLimit = (
  { apiRateLimit, apiRateLimitingEnabled }: RateLimitSettings,
  { rateLimit }: Pick<ServerDefaults, 'rateLimit'>,
): { readonly isEnabled: boolean; readonly perSecond: number } => ({
  isEnabled: apiRateLimitingEnabled ?? rateLimit !== null,
  perSecond: apiRateLimit ?? rateLimit ?? SHOWN_RATE_LIMIT,
});

/** Returns the requests per second that a token may send to this process; null for any number. */
export const getTokenRateLimit = (
  settings: RateLimitSettings,
  defaults: Pick<ServerDefaults, 'rateLimit' | 'workers'>,
): number | null => {
  const { isEnabled, perSecond } = describeRateLimit(settings, defaults);
  return isEnabled ? Math.max(LEAST_RATE, Math.ceil(perSecond / defaults.workers)) : null;
};
