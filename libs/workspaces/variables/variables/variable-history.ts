import {
  createSubject,
  endSubject,
  getIds,
  getSubjectId,
  updateSubject,
  type HistoryChange,
  type HistoryLookup,
  type OrganizationRecordedEvent,
} from '#platform/kernel';
import type { VariableAttributes, VariableOwner } from './variable.js';

// The history has the variables of workspaces, in the order of their keys and categories, and never contains values.

export const addVariable = (
  { owner, key, category }: Pick<VariableAttributes, 'key' | 'category'> & { readonly owner: VariableOwner },
  { stream }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  if (owner.type !== 'workspaces') return [];
  return [
    ...createSubject(stream, { workspace: owner.id, key, category }),
    ...updateSubject(owner.id, { variables: [...getIds(lookup, owner.id, 'variables'), stream] }),
  ];
};

export const updateVariable = (
  { changes: { key, category } }: { readonly changes: Partial<VariableAttributes> },
  { stream }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  if (!lookup.of(stream) || (key === undefined && category === undefined)) return [];
  return updateSubject(stream, {
    ...(key === undefined ? {} : { key }),
    ...(category === undefined ? {} : { category }),
  });
};

export const removeVariable = (
  _: unknown,
  { stream }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const workspace = getSubjectId(lookup, stream, 'workspace');
  if (workspace === undefined) return [];
  const remaining = getIds(lookup, workspace, 'variables').filter((id) => id !== stream);
  return [...endSubject(stream), ...updateSubject(workspace, { variables: remaining })];
};
