import { mergeTags, removeTags, type Tag } from '../rules/tags.js';
import type { RecordedEvent, Timestamp } from './recorded-event.js';

/** Properties of a subject, such as a workspace, at some time. */
export type SubjectData = Readonly<Record<string, unknown>>;

/** Marks of versions that begin or end a lock. They are stored among the changed fields. */
export const LOCK_STARTED = '#lock-started';
export const LOCK_ENDED = '#lock-ended';
export const LOCK_ENDED_BY_FORCE = '#lock-ended-by-force';

/** Properties of a run that the history of its workspace depends on. */
export type RunHistory = {
  readonly run: string;
  readonly workspace: string;
  readonly organization: string;
  readonly queues: boolean;
  readonly createdAt: Timestamp;
  readonly status: string;
  readonly reached: Readonly<Record<string, Timestamp>>;
  readonly finishedAt: Timestamp | null;
};

/** A lock that has not ended. The versions of the workspace contain everything else about it. */
export type CurrentLock = {
  /** Id of the event that locked the workspace. */
  readonly id: string;
  readonly workspace: string;
  readonly organization: string;
  readonly lockedAt: Timestamp;
};

/** A new version of a subject: properties that differ, or null if the subject is deleted. */
export type SubjectChange = {
  readonly subject: string;
  readonly patch: SubjectData | null;
  readonly marks?: readonly string[];
};

export type HistoryChange =
  | { readonly subject: string; readonly initialData: SubjectData }
  | SubjectChange
  | { readonly run: RunHistory }
  | { readonly locking: CurrentLock }
  | { readonly unlocking: Omit<CurrentLock, 'id'> }
  | { readonly forgotten: string };

export type HistoryLookup = {
  of(subject: string): SubjectData | null;
  /** Returns the properties of a deleted subject before its deletion. */
  ofDeleted(subject: string): SubjectData | null;
  run(id: string): RunHistory | null;
  /** Returns the workspaces that use an SSH key. */
  listWorkspacesUsing(sshKey: string): readonly string[];
};

/** An event of an organization. Only these events have a history. */
export type OrganizationRecordedEvent = RecordedEvent & { readonly organization: string };

/** Returns what an event adds to the history of resources. */
export type HistoryRule<Data> = (
  data: Data,
  event: OrganizationRecordedEvent,
  lookup: HistoryLookup,
) => readonly HistoryChange[];

export const createSubject = (subject: string, initialData: SubjectData): readonly HistoryChange[] => [
  { subject, initialData },
];
export const updateSubject = (
  subject: string,
  patch: SubjectData,
  marks: readonly string[] = [],
): readonly HistoryChange[] => [{ subject, patch, marks }];
export const endSubject = (subject: string, marks: readonly string[] = []): readonly HistoryChange[] => [
  { subject, patch: null, marks },
];

const getTags = (lookup: HistoryLookup, subject: string): readonly Tag[] =>
  (lookup.of(subject)?.['tags'] ?? []) as readonly Tag[];

/** Returns the tags of a subject, with these tags added. */
export const withTags = (lookup: HistoryLookup, subject: string, tags: readonly Tag[]): readonly Tag[] =>
  mergeTags(getTags(lookup, subject), tags);

export const withoutTags = (lookup: HistoryLookup, subject: string, keys: readonly string[]): readonly Tag[] =>
  removeTags(getTags(lookup, subject), keys);

/** Returns the ids in this property of a subject. */
export const getIds = (
  lookup: HistoryLookup,
  subject: string,
  key: 'variables' | 'remoteStateConsumers',
): readonly string[] => (lookup.of(subject)?.[key] ?? []) as readonly string[];

/** Returns the id of another subject, such as the owner, that a property names. */
export const getSubjectId = (lookup: HistoryLookup, subject: string, key: 'owner' | 'workspace'): string | undefined =>
  lookup.of(subject)?.[key] as string | undefined;
