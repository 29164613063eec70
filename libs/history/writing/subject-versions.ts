import type { RecordedEvent, Timestamp } from '#kernel';
import { listChangedFields, type SubjectData } from './history-fields.js';

/** How a subject was from `since` until its next version. Every event that changes it makes one. */
export type SubjectVersion = {
  readonly subject: string;
  readonly ordinal: number;
  readonly since: Timestamp;
  /** The version whose data this one's completes; its own number where nothing is missing. */
  readonly baseVersion: number;
  /** What differs from the frame; null: it was deleted. */
  readonly data: SubjectData | null;
};

/** The last version of a subject, and what it comes to with its frame. */
export type LatestSubjectVersion = SubjectVersion & { readonly fullData: SubjectData | null };

/** A version as it is written, with what made it. */
export type NewSubjectVersion = SubjectVersion & {
  readonly organization: string;
  /** Fields that changed, in the API's names. */
  readonly changed: readonly string[];
  readonly event: RecordedEvent;
};

/** In characters of JSON. Settings are far more than that, a lock with all that goes with it is less. */
const MAX_DELTA_CHARACTERS = 600;

/** Whoever holds the lock is left out: where they have been forgotten since, a replay must come to the same. */
const measureJson = (data: SubjectData): number =>
  JSON.stringify(data, (key, value: unknown) => (key === 'holder' ? null : value)).length;

/** What is kept of the next version: what differs from the frame, or all of it where that would be too much. */
const chooseStoredData = (
  ordinal: number,
  before: LatestSubjectVersion | undefined,
  patch: SubjectData,
  whole: SubjectData,
): Pick<SubjectVersion, 'baseVersion' | 'data'> => {
  if (!before?.data) return { baseVersion: ordinal, data: whole };
  const data = before.baseVersion === before.ordinal ? patch : { ...before.data, ...patch };
  if (measureJson(data) > MAX_DELTA_CHARACTERS) return { baseVersion: ordinal, data: whole };
  return { baseVersion: before.baseVersion, data };
};

/** Clocks of two gateways may differ: the history of a subject never goes back. */
const notBefore = (time: Timestamp, before: LatestSubjectVersion | undefined): Timestamp =>
  before && before.since > time ? before.since : time;

/** The version that an event makes of a subject: `patch` is what it changes, null where it ends it. */
export const createNextVersion = (
  before: LatestSubjectVersion | undefined,
  { subject, patch }: { readonly subject: string; readonly patch: SubjectData | null },
  event: RecordedEvent & { readonly organization: string },
): NewSubjectVersion & LatestSubjectVersion => {
  const ordinal = (before?.ordinal ?? 0) + 1;
  const made = { subject, ordinal, since: notBefore(event.time, before), organization: event.organization, event };
  if (patch === null) return { ...made, baseVersion: ordinal, data: null, fullData: null, changed: [] };
  const fullData = { ...before?.fullData, ...patch };
  const changed = listChangedFields(before?.fullData ?? null, fullData, Object.keys(patch));
  return { ...made, ...chooseStoredData(ordinal, before, patch, fullData), fullData, changed };
};
