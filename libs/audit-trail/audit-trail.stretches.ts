import { notFound, sql } from '#kernel';
import { caughtUp, type EventStore } from '#event-store';
import type { Actor } from '#access';
import { actorsNamed } from './audit-trail.actors.js';
import { AUDIT_TRAIL } from './audit-trail.follower.js';
import { idAt, readTrail, type TrailState } from './audit-trail.queries.js';
import type { Question } from './audit-trail.question.js';
import { gone, stretchAfter } from './cursor.js';
import type { Stretch } from './stretch.js';
import { untoldIn } from './trail.js';
import type { Walk } from './walk.js';

/** Resolves when the trail of an organization has all that was written before the call. */
export const toldUntilNow = ({ database }: EventStore, organization: string): Promise<void> =>
  caughtUp(database, AUDIT_TRAIL, { organization: sql`${organization}::text` });

/** How the trail stands that is asked about. */
export const trailFor = async (
  store: EventStore,
  question: Question,
  actor: Actor,
  walk: Walk | null = null,
): Promise<TrailState> => {
  // Asked of cursors alone.
  const untold = question.after ? untoldIn(store.kinds) : [];
  const trail = await readTrail(store.database, actor, question, { walk, untold });
  if (!trail) throw notFound();
  return { ...trail, accessors: [...trail.accessors, ...(await actorsNamed(store, question))] };
};

/** What comes after a cursor, or all of it: oldest first, and up to the last that there is now. */
export const stretchFor = async (
  store: EventStore,
  question: Question,
  actor: Actor,
): Promise<{ trail: TrailState; stretch: Stretch }> => {
  await toldUntilNow(store, question.organization);
  const trail = await trailFor(store, question, actor);
  return { trail, stretch: stretchAfter({ ...question, ...trail, upTo: Math.min(trail.length, trail.until) }) };
};

/**
 * Whoever goes on must have every entry. Trails are pruned from their beginning, so what has been read of a stretch is all
 * there was of it where its first entry is still there afterwards.
 */
export const refuseGaps = async (
  { database }: EventStore,
  { organization }: Question,
  { from, to }: Stretch,
  [first]: readonly { readonly ordinal: number }[],
): Promise<void> => {
  const isWhole = to < from || first?.ordinal === from || (await idAt(database, organization, from)) !== null;
  if (!isWhole) throw gone();
};
