import { notFound, sql, unavailable, type EventRegistry, type Sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import type { Actor } from '#api/access';
import { findActorsByName } from './actor-names.queries.js';
import { waitForTrail } from '../wait-for-trail.queries.js';
import { findEntryId, readTrail } from './audit-trail.queries.js';
import type { TrailWindow } from './trail-window.js';
import type { TrailQuery } from './trail-query.filter.js';
import { createEntriesGoneRefusal, computeRangeAfter } from './cursor.js';
import type { OrdinalRange } from './ordinal-range.js';
import { listSiteTypes, listUnauditedTypes, SITE_TRAIL } from '../writing/trail.js';
import type { PinnedPagination } from './pagination.js';

/** Selects whether an audit trail records the event `v` while it is open. */
const selectIsAudited = (kinds: EventRegistry, organization: string): Sql => {
  const isInScope =
    organization === SITE_TRAIL
      ? sql`(v.organization is null or v.type = any (${listSiteTypes(kinds)}::text[]))`
      : sql`v.organization = ${organization}`;
  return sql`${isInScope} and v.type <> all (${listUnauditedTypes(kinds)}::text[])`;
};

/**
 * Loads the window of the audit trail for a query. Throws not-found if the organization has no audit trail. Only the
 * trail of the site of an upgraded server can be missing, until its first entry or its rebuild.
 */
export const loadTrail = async (
  store: EventStore,
  query: TrailQuery,
  actor: Actor,
  pagination: PinnedPagination | null = null,
): Promise<TrailWindow> => {
  const { organization, after } = query;
  // Only cursors need the condition.
  const audited = after ? selectIsAudited(store.kinds, organization) : sql`false`;
  const trail = await readTrail(store.database, actor, query, { pagination, audited });
  if (!trail) {
    throw organization === SITE_TRAIL ? unavailable('The audit trail of the site is being computed.', 10) : notFound();
  }
  return { ...trail, accessors: [...trail.accessors, ...(await findActorsByName(store, query))] };
};

/** Returns the range after a cursor, or the complete range, up to the last entry at this time. */
export const loadCursorRange = async (
  store: EventStore,
  query: TrailQuery,
  actor: Actor,
): Promise<{ trail: TrailWindow; range: OrdinalRange }> => {
  await waitForTrail(store, query.organization);
  const trail = await loadTrail(store, query, actor);
  return { trail, range: computeRangeAfter({ ...query, ...trail, upTo: Math.min(trail.length, trail.until) }) };
};

/**
 * Throws if entries at the beginning of a range were pruned before they were read, because a reader that continues must
 * get every entry. Pruning starts at the oldest entry, so a range was complete if its first entry still exists after
 * the read.
 */
export const refuseGaps = async (
  { database }: EventStore,
  { organization }: TrailQuery,
  { from, to }: OrdinalRange,
  [first]: readonly { readonly ordinal: number }[],
): Promise<void> => {
  const isComplete = to < from || first?.ordinal === from || (await findEntryId(database, organization, from)) !== null;
  if (!isComplete) throw createEntriesGoneRefusal();
};
