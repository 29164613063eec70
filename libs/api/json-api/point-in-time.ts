import { sql, type Sql, type Timestamp } from '#platform/kernel';
import { parseTimeParameter, type QueryParameters } from './paging.js';
import type { RelatedResources } from './related-resources.js';

/** The query parameter for reads of a past state. */
export const AS_OF = 'as-of';

/** A workspace, a project, or an organization by its current name. */
export type PresentSubject =
  { readonly workspace: string } | { readonly project: string } | { readonly organization: string };

/**
 * The subject of a statement about the past: a workspace or project by its id, an organization by its id, or an
 * organization or a resource in it by the names at that time.
 */
export type PastSubject =
  | { readonly id: string }
  | { readonly organizationId: string }
  | { readonly organization: string; readonly name?: string };

/**
 * `views` returns common table expressions to put before a statement. They replace the views that the statement reads
 * with their rows at `time`.
 */
export type PointInTime = { readonly time: Timestamp; readonly views: (subject: PastSubject) => Sql };

/** Port for reading the past. The history module implements it. */
export abstract class HistoryReader {
  /**
   * Returns the point in time of `as-of`, or null without `as-of`. Waits until the history of the subject's
   * organization contains every change that was acknowledged before the call. Throws 400 for an invalid time.
   */
  abstract pointInTime(query: QueryParameters, subject: PresentSubject): Promise<PointInTime | null>;
}

/** Returns the time of `as-of`, or null without `as-of`. Throws 400 for an invalid time. */
export const parseAsOf = (query: QueryParameters): Timestamp | null => parseTimeParameter(query, AS_OF);

/** Returns `past.views`, or an empty fragment for the present. */
export const buildViewsAt = (past: PointInTime | null, subject: PastSubject): Sql => past?.views(subject) ?? sql.empty;

/** Returns the related resources as they were at the point in time. */
export const selectRelatedAt = (
  { query, render }: RelatedResources,
  past: PointInTime,
  subject: PastSubject,
): RelatedResources => ({
  query: sql`${past.views(subject)} ${query}`,
  render,
});
