import { findIncluded } from '../../api/included.js';
import type { ChangedField } from '../../api/history.js';
import type { NamesById } from '../../api/resource-names.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { formatTag } from '../../components/tag-text.js';
import { formatName } from '../../components/words.js';

/** The words of the console for fields and events of the API that have other names. */
const WORDS: Readonly<Record<string, string>> = {
  vars: 'Variables',
  'tag-bindings': 'Tags',
  WorkspaceTagAdded: 'Tag added',
  // The tag can be new, or have another value.
  WorkspaceTagBound: 'Tag set',
  WorkspaceTagged: 'Tags set',
  WorkspaceTagRemoved: 'Tag removed',
  WorkspaceTagUnbound: 'Tag removed',
  WorkspaceUntagged: 'Tags removed',
};

/** `terraform-version` is shown as `Terraform version`. */
export const formatFieldName = (field: string): string => WORDS[field] ?? formatName(field);

/** Returns the texts of a value of a field, which can be ids. */
export const listTexts = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
};

/** `WorkspaceLocked` is shown as `Workspace locked`. */
export const formatEventName = (event: string): string =>
  WORDS[event] ?? formatName(event.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NO_NAMES: NamesById = new Map();

const formatScalar = (value: unknown, names: NamesById): string =>
  typeof value === 'string' ? (names.get(value) ?? value) : JSON.stringify(value);

const formatRecord = (value: Readonly<Record<string, unknown>>, names: NamesById): string => {
  if (typeof value['key'] === 'string')
    return formatTag({ key: value['key'], value: value['value'] ? formatScalar(value['value'], NO_NAMES) : '' });
  if ('name' in value) return formatScalar(value['name'] ?? value['type'], names);
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== false);
  return members
    .map(([name, member]) => `${formatFieldName(name).toLowerCase()}: ${formatFieldValue(member, names)}`)
    .join(', ');
};

/** Returns the value of a field as a text, with the names of the ids that have one; null for no value. */
export const formatFieldValue = (value: unknown, names: NamesById = NO_NAMES): string | null => {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map((each) => formatFieldValue(each, names)).join(', ');
  if (isRecord(value)) return formatRecord(value, names) || null;
  return formatScalar(value, names);
};

type ListDifference = { readonly removed: readonly string[]; readonly added: readonly string[] };

/** Returns what a change of a list removed and added, or null for a field that is no list. */
export const compareLists = ({ from, to }: ChangedField, names: NamesById): ListDifference | null => {
  if (!Array.isArray(from ?? to)) return null;
  const [before, after] = [from, to].map((list) =>
    (Array.isArray(list) ? (list as readonly unknown[]) : []).map((each) => formatFieldValue(each, names) ?? ''),
  );
  return {
    removed: (before ?? []).filter((each) => !after?.includes(each)),
    added: (after ?? []).filter((each) => !before?.includes(each)),
  };
};

const listTags = (document: WorkspaceDocument): string =>
  (document.included ?? [])
    .flatMap((resource) =>
      resource.type === 'effective-tag-bindings' ? [formatRecord(resource.attributes, NO_NAMES)] : [],
    )
    .toSorted()
    .join(', ');

const nameOf = (id: string | undefined, names: NamesById): string | undefined =>
  id === undefined ? undefined : (names.get(id) ?? id);

export type WorkspaceField = { readonly label: string; readonly value: string };

/** Returns the fields of a workspace that the timeline compares, in the order of the screen. */
export const listWorkspaceFields = (document: WorkspaceDocument, names: NamesById): readonly WorkspaceField[] => {
  const { attributes, relationships } = document.data;
  const fields = {
    Name: attributes.name,
    Description: attributes.description,
    Project: findIncluded(document, relationships.project.data)?.attributes.name,
    Locked: attributes.locked,
    'Reason of the lock': attributes['locked-reason'],
    Tags: listTags(document),
    'Execution mode': attributes['execution-mode'],
    'Terraform version': attributes['terraform-version'],
    'Applies automatically': attributes['auto-apply'],
    'Working directory': attributes['working-directory'],
    Repository: attributes['vcs-repo'] && `${attributes['vcs-repo'].identifier} (${attributes['vcs-repo'].branch})`,
    'Allows destroy plans': attributes['allow-destroy-plan'],
    'Shares its state with the organization': attributes['global-remote-state'],
    Resources: attributes['resource-count'],
    'State version': relationships['current-state-version'].data?.id,
    Run: nameOf(relationships['current-run'].data?.id, names),
    Variables: relationships.vars.data.length,
  };
  return Object.entries(fields).map(([label, value]) => ({ label, value: formatFieldValue(value) ?? '–' }));
};
