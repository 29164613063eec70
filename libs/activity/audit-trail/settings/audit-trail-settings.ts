import { z } from 'zod';
import {
  conflict,
  defineEvents,
  getAuditedOrganization,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';

/** The settings of an organization's audit trail. Organizations that never changed a setting have the defaults. */
export type TrailSettingsState = {
  /** Days for which entries are kept; null for ever. */
  readonly retentionDays: number | null;
  readonly enabled: boolean;
};

const defineSwitchEvent = (isOn: boolean) =>
  ({
    schema: z.strictObject({}),
    live: 'changed',
    audit: {
      action: 'update',
      id: getAuditedOrganization,
      meta: () => ({ audit_trails_enabled: isOn }),
    },
  }) as const;

export const trailSettingsEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'atrail',
    audited: 'organization',
    live: inOrganization('audit-trail-settings', 'manage-audit-trail'),
  },
  {
    AuditTrailRetentionChanged: {
      schema: z.strictObject({ retentionDays: z.int().nullable() }),
      audit: {
        action: 'update',
        id: getAuditedOrganization,
        meta: ({ retentionDays }) => ({ audit_trail_retention_days: retentionDays }),
      },
      live: 'changed',
    },
    AuditTrailEnabled: defineSwitchEvent(true),
    AuditTrailDisabled: defineSwitchEvent(false),
    AuditTrailTested: {
      schema: z.strictObject({}),
      audit: { resource: 'audit_configuration', action: 'test' },
      live: { unsent: 'a test of the audit trail, which changes nothing' },
    },
    AuditTrailLogStarted: {
      schema: z.strictObject({
        olderEntries: z.int(),
        lastOlderEntry: z.uuid().nullable(),
        olderDigest: z.string(),
        formerOrigin: z.string().nullable(),
        formerCheckpoint: z.string().nullable(),
      }),
      audit: {
        resource: 'audit_trail_log',
        action: 'start',
        id: getAuditedOrganization,
        meta: (data) => ({
          older_entries: data.olderEntries,
          last_older_entry: data.lastOlderEntry,
          older_digest: data.olderDigest,
          former_origin: data.formerOrigin,
          former_checkpoint: data.formerCheckpoint,
        }),
      },
      live: { unsent: 'the start of a log, which changes nothing that people see' },
    },
  },
);

export type TrailSettingsEvent = EventsOf<typeof trailSettingsEvents>;

/** What the first entry of a log says about entries without a leaf. */
export type LogBeginning = Extract<TrailSettingsEvent, { type: 'AuditTrailLogStarted' }>['data'];

export type TrailSettingsCommand =
  | Message<'ChangeAuditTrailRetention', { retentionDays: number | null }>
  | Message<'SwitchAuditTrail', { enabled: boolean }>
  | Message<'TestAuditTrail', Record<never, never>>
  | Message<'StartAuditTrailLog', LogBeginning>;

export const DEFAULT_RETENTION_DAYS = 14;
/** A hundred years. Use null for longer. */
const MAX_RETENTION_DAYS = 36_500;

const ATTRIBUTE = 'retention-days';

const checkDays = (days: number | null): void => {
  if (days === null) return;
  if (!Number.isInteger(days)) throw unprocessable('Retention days must be a whole number', ATTRIBUTE);
  if (days < 1) throw unprocessable('Retention days must be greater than 0', ATTRIBUTE);
  if (days > MAX_RETENTION_DAYS)
    throw unprocessable(`Retention days must be at most ${MAX_RETENTION_DAYS}, or null`, ATTRIBUTE);
};

export const trailSettings: Decider<TrailSettingsState, TrailSettingsCommand, TrailSettingsEvent> = {
  version: 2,
  initial: { retentionDays: DEFAULT_RETENTION_DAYS, enabled: true },
  decide: {
    ChangeAuditTrailRetention: ({ retentionDays }, state) => {
      checkDays(retentionDays);
      if (retentionDays === state.retentionDays) return [];
      return [{ type: 'AuditTrailRetentionChanged', data: { retentionDays } }];
    },
    SwitchAuditTrail: ({ enabled }, state) => {
      if (enabled === state.enabled) return [];
      return [{ type: enabled ? 'AuditTrailEnabled' : 'AuditTrailDisabled', data: {} }];
    },
    TestAuditTrail: (_, { enabled }) => {
      if (!enabled) throw conflict('The audit trail is disabled. Enable it to test it');
      return [{ type: 'AuditTrailTested', data: {} }];
    },
    // Whether the log has begun is known to its tables: events of a log at another site come with an import.
    StartAuditTrailLog: (beginning) => [{ type: 'AuditTrailLogStarted', data: beginning }],
  },
  evolve: {
    AuditTrailRetentionChanged: ({ retentionDays }, state) => ({ ...state, retentionDays }),
    AuditTrailEnabled: (_, state) => ({ ...state, enabled: true }),
    AuditTrailDisabled: (_, state) => ({ ...state, enabled: false }),
    AuditTrailTested: (_, state) => state,
    AuditTrailLogStarted: (_, state) => state,
  },
};

/** Returns the stream of an organization's settings. No command has to create it. */
export const toTrailSettingsStream = (organization: string): string => organization.replace(/^org-/, 'atrail-');
