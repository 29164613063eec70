import type { OrganizationRecordedEvent, RecordedEvent, SubjectChange, SubjectData, Timestamp } from '#platform/kernel';
import { listChangedFields } from './history-fields.js';

/** State of a subject from `since` until its next version. Every event that changes the subject adds a version. */
type SubjectVersion = {
  readonly subject: string;
  readonly ordinal: number;
  readonly since: Timestamp;
  /** Whether its own data is complete. */
  readonly isBase: boolean;
  /**
   * Difference from the base version, the last complete one before; null if the subject was deleted. Neither contains
   * `updatedAt` if that is `since`.
   */
  readonly data: SubjectData | null;
};

/**
 * The latest version of a subject and its complete data. `dataBeforeEnd`: the complete data before the deletion; null if
 * the subject is not deleted.
 */
export type LatestSubjectVersion = SubjectVersion & {
  readonly fullData: SubjectData | null;
  readonly dataBeforeEnd: SubjectData | null;
};

/** A version to write, and the event that made it. */
export type NewSubjectVersion = SubjectVersion & {
  readonly organization: string;
  /** Names in the API of the changed fields. */
  readonly changed: readonly string[];
  /** Marks of a version that begins or ends a lock (history.field-codes.ts). */
  readonly marks: readonly string[];
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
  before: LatestSubjectVersion | undefined,
  {
    patch,
    fullData,
    since,
  }: { readonly patch: SubjectData; readonly fullData: SubjectData; readonly since: Timestamp },
): Pick<SubjectVersion, 'isBase' | 'data'> => {
  const { updatedAt } = fullData;
  const omitSince = (data: SubjectData): SubjectData => {
    const { updatedAt: _, ...rest } = data;
    return updatedAt === undefined || updatedAt === since ? rest : { ...rest, updatedAt };
  };
  if (!before?.data) return { isBase: true, data: omitSince(fullData) };
  const data = omitSince(before.isBase ? patch : { ...before.data, ...patch });
  return measureJson(data) > MAX_DELTA_CHARACTERS
    ? { isBase: true, data: omitSince(fullData) }
    : { isBase: false, data };
};

/** Returns a time that is not before the previous version, because clocks of two gateways may differ. */
const notBefore = (time: Timestamp, before: LatestSubjectVersion | undefined): Timestamp =>
  before && before.since > time ? before.since : time;

/** Creates the version after an event. */
export const createNextVersion = (
  before: LatestSubjectVersion | undefined,
  { subject, patch, marks = [] }: SubjectChange,
  event: OrganizationRecordedEvent,
): NewSubjectVersion & LatestSubjectVersion => {
  const ordinal = (before?.ordinal ?? 0) + 1;
  const { organization } = event;
  const since = notBefore(event.time, before);
  const common = { subject, ordinal, since, organization, marks, event };
  if (patch === null) {
    const dataBeforeEnd = before?.fullData ?? null;
    return { ...common, isBase: true, data: null, fullData: null, dataBeforeEnd, changed: [] };
  }
  const fullData = { ...before?.fullData, ...patch };
  const changed = listChangedFields(before?.fullData ?? null, fullData, Object.keys(patch));
  return { ...common, ...chooseStoredData(before, { patch, fullData, since }), fullData, dataBeforeEnd: null, changed };
};
