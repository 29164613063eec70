import { notFound, sql } from '#kernel';
import { waitForFollower, type EventStore } from '#event-store';
import type { Actor } from '#access';
import { findActorsByName } from './actor-names.queries.js';
import { AUDIT_TRAIL_FOLLOWER } from '../writing/audit-trail.follower.js';
import { findEntryId, readTrail, type TrailWindow } from './audit-trail.queries.js';
import type { TrailQuery } from './trail-query.filter.js';
import { createEntriesGoneRefusal, computeRangeAfter } from './cursor.js';
import type { OrdinalRange } from './ordinal-range.js';
import { listUnauditedTypes } from '../writing/trail.js';
import type { PinnedPagination } from './pagination.js';

/** Resolves when the trail of an organization has all that was written before the call. */
export const waitForTrail = ({ database }: EventStore, organization: string): Promise<void> =>
  waitForFollower(database, AUDIT_TRAIL_FOLLOWER, { organization: sql`${organization}::text` });

/** How the trail stands that is asked about. */
export const loadTrail = async (
  store: EventStore,
  question: TrailQuery,
  actor: Actor,
  pagination: PinnedPagination | null = null,
): Promise<TrailWindow> => {
  // Asked of cursors alone.
  const untold = question.after ? listUnauditedTypes(store.kinds) : [];
  const trail = await readTrail(store.database, actor, question, { pagination, untold });
  if (!trail) throw notFound();
  return { ...trail, accessors: [...trail.accessors, ...(await findActorsByName(store, question))] };
};

/** What comes after a cursor, or all of it: oldest first, and up to the last that there is now. */
export const loadCursorRange = async (
  store: EventStore,
  question: TrailQuery,
  actor: Actor,
): Promise<{ trail: TrailWindow; stretch: OrdinalRange }> => {
  await waitForTrail(store, question.organization);
  const trail = await loadTrail(store, question, actor);
  return { trail, stretch: computeRangeAfter({ ...question, ...trail, upTo: Math.min(trail.length, trail.until) }) };
};

/**
 * Whoever goes on must have every entry. Trails are pruned from their beginning, so what has been read of a stretch is all
 * there was of it where its first entry is still there afterwards.
 */
export const refuseGaps = async (
  { database }: EventStore,
  { organization }: TrailQuery,
  { from, to }: OrdinalRange,
  [first]: readonly { readonly ordinal: number }[],
): Promise<void> => {
  const isWhole = to < from || first?.ordinal === from || (await findEntryId(database, organization, from)) !== null;
  if (!isWhole) throw createEntriesGoneRefusal();
};
