import type { RecordedEvent, Timestamp } from '#kernel';
import { listChangedFields, type SubjectData } from './history-fields.js';

/** State of a subject from `since` until its next version. Every event that changes the subject adds a version. */
export type SubjectVersion = {
  readonly subject: string;
  readonly ordinal: number;
  readonly since: Timestamp;
  /** Ordinal of the base version; that of this version if its own data is complete. */
  readonly baseVersion: number;
  /** Difference from the base version; null if the subject was deleted. */
  readonly data: SubjectData | null;
};

/** The latest version of a subject and its complete data. */
export type LatestSubjectVersion = SubjectVersion & { readonly fullData: SubjectData | null };

/** A version to write, and the event that made it. */
export type NewSubjectVersion = SubjectVersion & {
  readonly organization: string;
  /** Names in the API of the changed fields. */
  readonly changed: readonly string[];
  readonly event: RecordedEvent;
};

/**
 * Maximum size of a difference in characters of JSON. Settings are far larger, a lock with everything that belongs to
 * it is smaller.
 */
const MAX_DELTA_CHARACTERS = 600;

/**
 * Returns the length as JSON without holders of locks, so that a replay gives the same result after a person was
 * forgotten.
 */
const measureJson = (data: SubjectData): number =>
  JSON.stringify(data, (key, value: unknown) => (key === 'holder' ? null : value)).length;

/** Returns the data to store: the difference from the base version, or all data if the difference is too large. */
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

/** Returns a time that is not before the previous version, because clocks of two gateways may differ. */
const notBefore = (time: Timestamp, before: LatestSubjectVersion | undefined): Timestamp =>
  before && before.since > time ? before.since : time;

/** Creates the version after an event. `patch` contains the changed properties; null ends the subject. */
export const createNextVersion = (
  before: LatestSubjectVersion | undefined,
  { subject, patch }: { readonly subject: string; readonly patch: SubjectData | null },
  event: RecordedEvent & { readonly organization: string },
): NewSubjectVersion & LatestSubjectVersion => {
  const ordinal = (before?.ordinal ?? 0) + 1;
  const common = { subject, ordinal, since: notBefore(event.time, before), organization: event.organization, event };
  if (patch === null) return { ...common, baseVersion: ordinal, data: null, fullData: null, changed: [] };
  const fullData = { ...before?.fullData, ...patch };
  const changed = listChangedFields(before?.fullData ?? null, fullData, Object.keys(patch));
  return { ...common, ...chooseStoredData(ordinal, before, patch, fullData), fullData, changed };
};
