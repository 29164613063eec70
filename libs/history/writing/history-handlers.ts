import type { DataOf, Message, RecordedEvent } from '#kernel';
import type { HistoryChange, HistoryLookup } from './history-writer.js';
import type { SubjectData } from './history-fields.js';

/** An event of an organization. Only these events have a history. */
export type OrganizationRecordedEvent = RecordedEvent & { readonly organization: string };

export type HistoryHandlers<E extends Message> = {
  readonly [T in E['type']]:
    ((data: DataOf<E, T>, event: OrganizationRecordedEvent, lookup: HistoryLookup) => readonly HistoryChange[]) | null;
};

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
