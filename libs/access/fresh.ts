import { sql, type Sql } from '#kernel';
import type { Identity } from './actor.js';

/**
 * A condition for the first statement of every request: fails it where access has changed since the caller was read.
 * AccessInterceptor then reads the caller anew and runs the request again, so that a permission taken away is gone at
 * the next request on every gateway, without a lookup on each.
 */
export const fresh = (actor: Identity): Sql => sql`access.fresh(${actor.epoch})`;

export const isOutdated = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'CA401';
