import { sql } from '#platform/kernel';
import { waitForFollower, type EventStore } from '#storage/event-store';
import { AUDIT_TRAIL_FOLLOWER } from './audit-trail.follower.js';
import { SITE_TRAIL } from './writing/trail.js';

/**
 * Resolves when the audit trail contains everything that was written before the call. Readers of the trail of the site
 * wait for the events of all organizations, because it records some of them.
 */
export const waitForTrail = ({ database }: EventStore, organization: string): Promise<void> =>
  waitForFollower(
    database,
    AUDIT_TRAIL_FOLLOWER,
    organization === SITE_TRAIL ? {} : { organization: sql`${organization}::text` },
  );
