import { z } from 'zod';
import { defineEvents, type Decider, type EventsOf, type Message } from '#platform/kernel';

/** The site derives the keys of all logs from its seeds, so the seeds share one stream. */
export const TRAIL_LOG_KEYS_STREAM = 'tlogkey-site';

const OF_SITE = { site: 'without-organization' } as const;

/**
 * The seeds from which the site derives the keys that sign checkpoints. Every seed signs until an administrator trims the
 * earlier ones, so that readers have time to learn the new verifier key.
 */
export const trailLogKeyEvents = defineEvents(
  {
    topic: 'access',
    stream: 'tlogkey',
    audited: 'audit_trail_log_key',
    live: { unsent: 'an event of the site' },
    notImported: 'the keys that sign checkpoints belong to a site',
  },
  {
    AuditTrailLogKeyRotated: {
      schema: z.strictObject({ seed: z.string() }),
      audit: { ...OF_SITE, action: 'rotate', meta: ({ seed }) => ({ seed }) },
    },
    AuditTrailLogKeysTrimmed: {
      schema: z.strictObject({ seeds: z.array(z.string()) }),
      audit: { ...OF_SITE, action: 'trim', meta: ({ seeds }) => ({ seeds }) },
    },
  },
);

export type TrailLogKeyEvent = EventsOf<typeof trailLogKeyEvents>;

/** `seed` is the id of a seed; the vault stores the seed itself. */
type TrailLogKeyCommand =
  | Message<'RotateKey', { seed: string }>
  /** Creates the first seed. Yields nothing if the site has one. */
  | Message<'EnsureKey', { seed: string }>
  /** `all`: also the newest seed, because a key elsewhere signs. */
  | Message<'TrimKeys', { all: boolean }>;

/** The ids of the seeds that sign, oldest first. */
type TrailLogKeysState = { readonly seeds: readonly string[] };

export const trailLogKeys: Decider<TrailLogKeysState, TrailLogKeyCommand, TrailLogKeyEvent> = {
  version: 1,
  initial: { seeds: [] },
  decide: {
    RotateKey: ({ seed }) => [{ type: 'AuditTrailLogKeyRotated', data: { seed } }],
    EnsureKey: ({ seed }, { seeds }) => (seeds.length > 0 ? [] : [{ type: 'AuditTrailLogKeyRotated', data: { seed } }]),
    TrimKeys: ({ all }, { seeds }) => {
      const trimmed = all ? seeds : seeds.slice(0, -1);
      return trimmed.length === 0 ? [] : [{ type: 'AuditTrailLogKeysTrimmed', data: { seeds: trimmed } }];
    },
  },
  evolve: {
    AuditTrailLogKeyRotated: ({ seed }, { seeds }) => ({ seeds: [...seeds, seed] }),
    AuditTrailLogKeysTrimmed: ({ seeds: trimmed }, { seeds }) => ({
      seeds: seeds.filter((seed) => !trimmed.includes(seed)),
    }),
  },
};

/** Returns the id of a seed in the vault. */
export const toSeedId = (seed: string): string => `tlogseed-${seed}`;
