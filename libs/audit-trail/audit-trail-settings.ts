import { unprocessable, type Decider, type Message } from '#kernel';

/**
 * How an organization wants its trail: for how many days entries are kept, `null` for ever. Who has said nothing has what
 * the contract says (§8).
 */
export type TrailSettings = { readonly retentionDays: number | null };

export type TrailSettingsEvent = Message<'AuditTrailRetentionChanged', { retentionDays: number | null }>;
export type TrailSettingsCommand = Message<'ChangeAuditTrailRetention', { retentionDays: number | null }>;

export const RETENTION_DAYS = 14;
/** A hundred years: for longer there is null. */
const MOST_DAYS = 36_500;

const ATTRIBUTE = 'retention-days';

const checkDays = (days: number | null): void => {
  if (days === null) return;
  if (!Number.isInteger(days)) throw unprocessable('Retention days must be a whole number', ATTRIBUTE);
  if (days < 1) throw unprocessable('Retention days must be greater than 0', ATTRIBUTE);
  if (days > MOST_DAYS) throw unprocessable(`Retention days must be at most ${MOST_DAYS}, or null`, ATTRIBUTE);
};

export const trailSettings: Decider<TrailSettings, TrailSettingsCommand, TrailSettingsEvent> = {
  version: 1,
  initial: { retentionDays: RETENTION_DAYS },
  decide: {
    ChangeAuditTrailRetention: ({ retentionDays }, state) => {
      checkDays(retentionDays);
      if (retentionDays === state.retentionDays) return [];
      return [{ type: 'AuditTrailRetentionChanged', data: { retentionDays } }];
    },
  },
  evolve: {
    AuditTrailRetentionChanged: ({ retentionDays }) => ({ retentionDays }),
  },
};

/** Their stream: an organization, `org-…`, has one, and needs nobody to make it. */
export const settingsOf = (organization: string): string => organization.replace(/^org-/, 'atrail-');
