export { generalSettingsDefinition, GeneralSettingsModule } from './general-settings.module.js';
export { SELECT_IS_FAIR, SELECT_TIME_LIMITS } from './general-settings.view.js';
export { readTimeLimits, timeLimitMember } from './time-limit.body.js';
export { getTimeLimitSeconds, type TimeLimits } from './time-limit.js';
export { StoredTokenRateLimit } from './token-rate-limit.service.js';
