import { getText, type ForeignResource } from '../source/source-documents.js';
import {
  continueAfter,
  copyResource,
  findCopyAmong,
  indexByAttribute,
  indexById,
  pickAttributes,
  type ImportContext,
} from './resources.copier.js';
import { hasOwnWorkspaces } from '../target/origins.queries.js';

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

const listVariables = (target: ImportContext['target'], path: string | null): Promise<readonly ForeignResource[]> =>
  path === null ? Promise.resolve([]) : target.list(path);

/** Copies the variables of a workspace or of a set. The values of sensitive ones must be supplied. */
export const copyVariables = async (context: ImportContext, owner: CopiedOwner): Promise<void> => {
  const { source, target, report, values } = context;
  const { label, sourcePath, path, mayChange } = owner;
  const variables = await listVariables(target, path);
  const existing = new Map(variables.map((one) => [identify(one), one]));
  const byId = indexById(variables);
  for await (const variable of source.list(sourcePath)) {
    const key = identify(variable);
    const name = `${label}/${key}`;
    const isSensitive = variable.attributes['sensitive'] === true;
    const present = findCopyAmong(context, variable, byId) ?? existing.get(key);
    const needsValue = isSensitive && !present && !context.copies.has(variable.id);
    const value = needsValue ? values.find(name) : null;
    if (needsValue && value === null) {
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

type CopiedTarget = { readonly type: string; readonly id: string };

/** What a set applies to here, and how many of its targets are left out. */
type SetTargets = {
  readonly workspaces: readonly CopiedTarget[];
  readonly projects: readonly CopiedTarget[];
  readonly withheld: number;
};

/**
 * Returns the copies that a set applies to. It never applies to what existed here, nor to copies in use: its variables would
 * act in their next runs.
 */
const findTargets = async (context: ImportContext, { related }: ForeignResource): Promise<SetTargets> => {
  const { database } = context;
  const targets = { workspaces: [] as CopiedTarget[], projects: [] as CopiedTarget[], withheld: 0 };
  for (const type of ['workspaces', 'projects'] as const) {
    for (const sourceId of related[type] ?? []) {
      const copy = context[type].get(sourceId);
      const isHarmless = copy?.mayChange === true && (type === 'workspaces' || !(await isInUse(database, copy.id)));
      if (!isHarmless) targets.withheld += 1;
      else if (copy.id !== null) targets[type].push({ type, id: copy.id });
    }
  }
  return targets;
};

const isInUse = async (database: ImportContext['database'], project: string | null): Promise<boolean> =>
  project !== null && (await hasOwnWorkspaces(database, project));

const reportWithheld = (
  { report }: ImportContext,
  { attributes }: ForeignResource,
  { name, withheld }: { readonly name: string; readonly withheld: number },
): void => {
  const flags = ['global', 'priority'].filter((attribute) => attributes[attribute] === true);
  if (flags.length > 0) report.add('settings', name, 'withheld', `${flags.join(' and ')} of the variable set`);
  if (withheld === 0) return;
  report.add(
    'settings',
    name,
    'withheld',
    `${withheld} targets of the variable set that are no copies, or in use here`,
  );
};

/** Reports copies that the set applies to at the source only. A later run adds none, because somebody can have removed them. */
const compareTargets = (
  { report }: ImportContext,
  {
    name,
    present,
    targets,
  }: { readonly name: string; readonly present: ForeignResource; readonly targets: SetTargets },
): void => {
  for (const type of ['workspaces', 'projects'] as const) {
    const missing = targets[type].filter(({ id }) => !(present.related[type] ?? []).includes(id));
    if (missing.length === 0) continue;
    report.add(
      'targets of variable sets',
      name,
      'differs',
      `does not apply to ${missing.length} ${type} here; add them yourself`,
    );
  }
};

/** Returns whether the set applies only to copies that nobody uses. People can have chosen other targets here. */
const isUnused = ({ attributes, related }: ForeignResource, targets: SetTargets): boolean =>
  attributes['global'] !== true &&
  (['workspaces', 'projects'] as const).every((type) =>
    (related[type] ?? []).every((id) => targets[type].some((target) => target.id === id)),
  );

/** Returns the project that owns the set; null if the organization owns it. */
const findParent = (
  { projects }: ImportContext,
  { related }: ForeignResource,
): { readonly id: string | null; readonly mayChange: boolean } | null => {
  const parent = related['parent']?.find((id) => id.startsWith('prj-'));
  return parent === undefined ? null : (projects.get(parent) ?? { id: null, mayChange: false });
};

const toSetRelationships = ({ workspaces, projects }: SetTargets, parent: string | null) => ({
  workspaces: { data: workspaces },
  projects: { data: projects },
  ...(parent === null ? {} : { parent: { data: { type: 'projects', id: parent } } }),
});

type SetCopy = {
  readonly set: ForeignResource;
  readonly name: string;
  /** The project here that owns the set. */
  readonly parent: string | null;
  readonly present: ForeignResource | undefined;
};

const copySetContents = async (context: ImportContext, { set, name, parent, present }: SetCopy): Promise<void> => {
  const { target, into } = context;
  const targets = await findTargets(context, set);
  const relationships = toSetRelationships(targets, parent);
  const resource = { type: 'varsets', attributes: pickAttributes(set, ['name', 'description']), relationships };
  const path = `/api/v2/organizations/${into}/varsets`;
  const id = await copyResource(context, {
    kind: 'variable sets',
    name,
    source: set,
    path,
    resource,
    present,
    mayChange: true,
  });
  reportWithheld(context, set, { name, withheld: targets.withheld });
  if (id === undefined) return;
  const document = present ? await target.find(`/api/v2/varsets/${present.id}`) : null;
  if (document) compareTargets(context, { name, present: document, targets });
  await copyVariables(context, {
    label: `variable-sets/${name}`,
    sourcePath: `/api/v2/varsets/${set.id}/relationships/vars`,
    path: id === null ? null : `/api/v2/varsets/${id}/relationships/vars`,
    mayChange: !document || isUnused(document, targets),
  });
};

const copySet = async (
  context: ImportContext,
  listed: ForeignResource,
  {
    present,
    namesake,
  }: { readonly present?: ForeignResource | undefined; readonly namesake?: ForeignResource | undefined },
): Promise<void> => {
  const { report, source } = context;
  const kind = 'variable sets';
  const name = getText(listed, 'name') ?? '';
  if (!present && namesake && !context.copies.has(listed.id)) {
    return report.add(kind, name, 'kept', 'exists already, and gets no variables');
  }
  const set = { ...((await source.find(`/api/v2/varsets/${listed.id}`)) ?? listed), id: listed.id };
  const parent = findParent(context, set);
  // Without its project, the set would belong to the organization.
  if (parent?.mayChange === false) {
    return report.add(kind, name, 'withheld', 'belongs to a project that was not copied');
  }
  await copySetContents(context, { set, name, parent: parent?.id ?? null, present });
};

/** Copies variable sets with what they apply to, after the workspaces. */
export const copyVariableSets = async (context: ImportContext): Promise<void> => {
  const sets = await context.target.list(`/api/v2/organizations/${context.into}/varsets`);
  const byName = indexByAttribute(sets, 'name');
  const byId = indexById(sets);
  for await (const set of context.source.list(`/api/v2/organizations/${context.organization}/varsets`)) {
    const name = getText(set, 'name') ?? '';
    const namesake = byName.get(name.toLowerCase());
    await continueAfter(context, { kind: 'variable sets', name }, () =>
      copySet(context, set, { present: findCopyAmong(context, set, byId), namesake }),
    );
  }
};
