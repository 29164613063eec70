import { z } from 'zod';
import {
  defineEvents,
  getAuditedOrganization,
  type DataOf,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';

/** Why the database cannot continue the history that was published. */
const FORK_REASONS = ['log_is_shorter', 'log_differs', 'published_checkpoint_is_missing'] as const;

/**
 * What happens to the transparency log of an organization's trail: it got another key, or it continues under another
 * origin, because the database is older than the last checkpoint that was published.
 */
export const trailLogEvents = defineEvents(
  {
    topic: 'organizations',
    stream: 'atlog',
    audited: 'audit_trail_log',
    live: { unsent: 'readers of the log find it in the next checkpoint' },
  },
  {
    AuditTrailLogForked: {
      schema: z.strictObject({
        origin: z.string(),
        previousOrigin: z.string(),
        /** Size and root (base64) of the last checkpoint that was published under the previous origin. */
        size: z.int().nonnegative(),
        root: z.string(),
        reason: z.enum(FORK_REASONS),
      }),
      audit: {
        action: 'fork',
        id: getAuditedOrganization,
        meta: ({ origin, previousOrigin, size, root, reason }) => ({
          origin,
          previous_origin: previousOrigin,
          previous_size: size,
          previous_root: root,
          reason,
        }),
      },
    },
    AuditTrailLogKeyChanged: {
      schema: z.strictObject({
        origin: z.string(),
        verifierKey: z.string(),
        /** Signed note with the new key, by the keys that signed before. */
        announcement: z.string(),
      }),
      audit: {
        action: 'rotate_key',
        id: getAuditedOrganization,
        meta: ({ origin, verifierKey, announcement }) => ({ origin, verifier_key: verifierKey, announcement }),
      },
    },
  },
);

type TrailLogEvent = EventsOf<typeof trailLogEvents>;
export type LogFork = DataOf<TrailLogEvent, 'AuditTrailLogForked'>;
type LogKeyChange = DataOf<TrailLogEvent, 'AuditTrailLogKeyChanged'>;

export type TrailLogCommand = Message<'ForkLog', LogFork> | Message<'ChangeKey', LogKeyChange>;

/** The job that signs decides from its own tables. The stream only records what it did. */
type TrailLogState = Record<never, never>;

export const trailLog: Decider<TrailLogState, TrailLogCommand, TrailLogEvent> = {
  version: 1,
  initial: {},
  decide: {
    ForkLog: (data) => [{ type: 'AuditTrailLogForked', data }],
    ChangeKey: (data) => [{ type: 'AuditTrailLogKeyChanged', data }],
  },
  evolve: { AuditTrailLogForked: (_, state) => state, AuditTrailLogKeyChanged: (_, state) => state },
};

/** Returns the stream of an organization's log. No command has to create it. */
export const toTrailLogStream = (organization: string): string => organization.replace(/^org-/, 'atlog-');
