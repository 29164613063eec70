import { getText, type ForeignResource } from '../source/source-documents.js';
import { copyResource, indexByAttribute, pickAttributes, type ImportContext } from './resources.copier.js';
import { isCopyOf } from './projects.copier.js';

const VARIABLE_ATTRIBUTES = ['key', 'value', 'description', 'category', 'hcl', 'sensitive'];

/** What variables belong to. */
type CopiedOwner = {
  /** The beginning of the paths of its values in the file with supplied values. */
  readonly label: string;
  readonly sourcePath: string;
  /** The path here; null if a dry run would create the owner. */
  readonly path: string | null;
  readonly mayChange: boolean;
};

const identify = (variable: ForeignResource): string => {
  const category = getText(variable, 'category') ?? '';
  return `${category}/${getText(variable, 'key') ?? ''}`;
};

/** Copies the variables of a workspace or of a set. The values of sensitive ones must be supplied. */
export const copyVariables = async (context: ImportContext, owner: CopiedOwner): Promise<void> => {
  const { source, target, report, values } = context;
  const { label, sourcePath, path, mayChange } = owner;
  const existing = new Map((path === null ? [] : await target.list(path)).map((one) => [identify(one), one]));
  for await (const variable of source.list(sourcePath)) {
    const key = identify(variable);
    const name = `${label}/${key}`;
    const isSensitive = variable.attributes['sensitive'] === true;
    const present = existing.get(key);
    const value = isSensitive && !present ? values.find(name) : null;
    if (isSensitive && !present && value === null) {
      report.add('variables', name, 'waiting', 'supply its value: the API does not return it');
      continue;
    }
    const attributes = { ...pickAttributes(variable, VARIABLE_ATTRIBUTES), ...(isSensitive ? { value } : {}) };
    const resource = { type: 'vars', attributes };
    const hidden = isSensitive ? ['value'] : [];
    await copyResource(context, {
      kind: 'variables',
      name,
      source: variable,
      path: path ?? '',
      resource,
      present,
      mayChange,
      hidden,
    });
  }
};

const listCopied = (
  copies: ImportContext['projects'],
  type: string,
  ids: readonly string[] = [],
): readonly { readonly type: string; readonly id: string }[] =>
  ids.flatMap((id) => {
    const copy = copies.get(id);
    return copy?.id ? [{ type, id: copy.id }] : [];
  });

const copySet = async (
  context: ImportContext,
  listed: ForeignResource,
  present: ForeignResource | undefined,
): Promise<void> => {
  const { report, projects, workspaces, into } = context;
  const name = getText(listed, 'name') ?? '';
  if (present && !(await isCopyOf(context, present, listed))) {
    return report.add('variable sets', name, 'kept', 'exists already, and gets no variables');
  }
  const set = (await context.source.find(`/api/v2/varsets/${listed.id}`)) ?? listed;
  const parent = set.related['parent']?.[0];
  const parentProject = parent === undefined ? undefined : projects.get(parent)?.id;
  const relationships = {
    workspaces: { data: listCopied(workspaces, 'workspaces', set.related['workspaces']) },
    projects: { data: listCopied(projects, 'projects', set.related['projects']) },
    ...(parentProject ? { parent: { data: { type: 'projects', id: parentProject } } } : {}),
  };
  const attributes = pickAttributes(set, ['name', 'description', 'global', 'priority']);
  const resource = { type: 'varsets', attributes, relationships };
  const path = `/api/v2/organizations/${into}/varsets`;
  const copy = { kind: 'variable sets', name, source: listed, path, resource, present, mayChange: true };
  const id = await copyResource(context, copy);
  if (id === undefined) return;
  await copyVariables(context, {
    label: `variable-sets/${name}`,
    sourcePath: `/api/v2/varsets/${listed.id}/relationships/vars`,
    path: id === null ? null : `/api/v2/varsets/${id}/relationships/vars`,
    mayChange: true,
  });
};

/** Copies variable sets with what they apply to, after the workspaces. */
export const copyVariableSets = async (context: ImportContext): Promise<void> => {
  const present = indexByAttribute(await context.target.list(`/api/v2/organizations/${context.into}/varsets`), 'name');
  for await (const set of context.source.list(`/api/v2/organizations/${context.organization}/varsets`)) {
    await copySet(context, set, present.get((getText(set, 'name') ?? '').toLowerCase()));
  }
};
