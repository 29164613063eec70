/*
 * The changes of a plan, from the document that the server makes for the CLI. Sensitive values are a text in it, and their marks say
 * where they are.
 */

type PlanPart = Readonly<Record<string, unknown>>;

export type ChangeAction =
  'create' | 'update' | 'replace' | 'delete' | 'read' | 'forget' | 'import' | 'move' | 'changed' | 'deleted' | 'none';

export type AttributeChange = {
  /** The path of an attribute, such as `tags.env`. */
  readonly path: string;
  /** A text, or JSON of another value; null for no value. */
  readonly before: string | null;
  readonly after: string | null;
  /** The value is known after the apply. */
  readonly isUnknown: boolean;
  /** The texts are then empty. */
  readonly isSensitive: boolean;
  readonly forcesReplacement: boolean;
};

export type PlannedResource = {
  readonly address: string;
  readonly action: ChangeAction;
  /** Further facts, such as the reason of the action. */
  readonly notes: readonly string[];
  readonly attributes: readonly AttributeChange[];
};

/** `module` is empty for the root module. */
export type ModuleChanges = { readonly module: string; readonly resources: readonly PlannedResource[] };

export type PlanChanges = {
  readonly modules: readonly ModuleChanges[];
  readonly outputs: readonly PlannedResource[];
  /** What has changed outside of terraform. */
  readonly drift: readonly PlannedResource[];
};

const isObject = (value: unknown): value is PlanPart =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listObjects = (value: unknown): readonly PlanPart[] => (Array.isArray(value) ? value.filter(isObject) : []);

const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as PlanPart)[name] : undefined;

const listNames = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.keys(value) : [];

/** Longer values are shortened: a plan can contain whole files. */
const MAX_TEXT = 4_000;

const toText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
};

/** One value in the two states, with its marks. */
type TwoValues = {
  readonly before: unknown;
  readonly after: unknown;
  readonly beforeMark: unknown;
  readonly afterMark: unknown;
  readonly unknown: unknown;
};

const selectMember = (value: TwoValues, name: string): TwoValues => ({
  before: getMember(value.before, name),
  after: getMember(value.after, name),
  beforeMark: getMember(value.beforeMark, name),
  afterMark: getMember(value.afterMark, name),
  unknown: getMember(value.unknown, name),
});

/** What the server writes for a sensitive value that the plan changes. */
const REDACTED_CHANGE = 'REDACTED (changed)';

type LeafChange = Omit<AttributeChange, 'path' | 'forcesReplacement'>;

const compareLeaf = ({ before, after, beforeMark, afterMark, unknown }: TwoValues): LeafChange | null => {
  const isUnknown = unknown === true;
  const [old, next] = [toText(before), isUnknown ? null : toText(after)];
  if (beforeMark === true || afterMark === true) {
    const hasChanged = isUnknown || (old === null) !== (next === null) || next === REDACTED_CHANGE;
    const hide = (text: string | null) => (text === null ? null : '');
    return hasChanged ? { before: hide(old), after: hide(next), isUnknown, isSensitive: true } : null;
  }
  const hasChanged = isUnknown || JSON.stringify(before ?? null) !== JSON.stringify(after ?? null);
  return hasChanged ? { before: old, after: next, isUnknown, isSensitive: false } : null;
};

const isPrimitive = (value: unknown): boolean => value !== null && value !== undefined && typeof value !== 'object';

/** Returns whether the value is compared as a whole. */
const isLeaf = ({ before, after, beforeMark, afterMark, unknown }: TwoValues): boolean =>
  [beforeMark, afterMark, unknown].includes(true) || isPrimitive(before) || isPrimitive(after);

const compareValues = (value: TwoValues, path: readonly string[]): readonly [readonly string[], LeafChange][] => {
  const names = [...new Set([value.before, value.after, value.unknown].flatMap(listNames))];
  if (isLeaf(value) || names.length === 0) {
    const change = compareLeaf(value);
    return change && path.length > 0 ? [[path, change]] : [];
  }
  return names.flatMap((name) => [...compareValues(selectMember(value, name), [...path, name])]);
};

const toTwoValues = (change: PlanPart): TwoValues => ({
  before: change['before'],
  after: change['after'],
  beforeMark: change['before_sensitive'],
  afterMark: change['after_sensitive'],
  unknown: change['after_unknown'],
});

const isPrefix = (prefix: unknown, path: readonly string[]): boolean =>
  Array.isArray(prefix) && prefix.every((step, index) => String(step) === path[index]);

const listAttributes = (change: PlanPart): readonly AttributeChange[] => {
  const forcing: readonly unknown[] = Array.isArray(change['replace_paths']) ? change['replace_paths'] : [];
  return compareValues(toTwoValues(change), []).map(([path, leaf]) => ({
    ...leaf,
    path: path.join('.'),
    forcesReplacement: forcing.some((prefix) => isPrefix(prefix, path)),
  }));
};

const ACTIONS: Readonly<Record<string, ChangeAction>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  read: 'read',
  forget: 'forget',
  'delete,create': 'replace',
  'create,delete': 'replace',
  'create,forget': 'replace',
};

const REASONS: Readonly<Record<string, string>> = {
  replace_because_tainted: 'It is tainted, so it is replaced.',
  replace_by_request: 'A person requested the replacement.',
  replace_by_triggers: 'replace_triggered_by names a change.',
  delete_because_no_resource_config: 'The configuration does not contain it any more.',
  delete_because_no_module: 'The configuration does not contain its module any more.',
  delete_because_wrong_repetition: 'It has no count or for_each any more, or has one now.',
  delete_because_count_index: 'Its index is beyond count.',
  delete_because_each_key: 'for_each does not contain its key any more.',
  delete_because_no_move_target: 'It moved to an address that the configuration does not contain.',
  read_because_config_unknown: 'Its configuration is known after the apply.',
  read_because_dependency_pending: 'It depends on a resource with changes.',
};

const findAction = (change: PlanPart, resource: PlanPart): ChangeAction => {
  const action = ACTIONS[String(change['actions'])];
  if (action !== undefined) return action;
  if (isObject(change['importing'])) return 'import';
  return resource['previous_address'] === undefined ? 'none' : 'move';
};

const listNotes = (change: PlanPart, resource: PlanPart): readonly string[] => {
  const { previous_address: previous, action_reason: reason, deposed } = resource;
  const importing = getMember(change['importing'], 'id');
  return [
    ...(typeof previous === 'string' ? [`Moved from ${previous}.`] : []),
    ...(typeof importing === 'string' ? [`Imported with the id ${importing}.`] : []),
    ...(typeof deposed === 'string' ? ['An object that an earlier replacement has left.'] : []),
    ...(REASONS[String(reason)] === undefined ? [] : [String(REASONS[String(reason)])]),
  ];
};

const toResource = (resource: PlanPart): PlannedResource => {
  const change = isObject(resource['change']) ? resource['change'] : {};
  return {
    address: String(resource['address']),
    action: findAction(change, resource),
    notes: listNotes(change, resource),
    attributes: listAttributes(change),
  };
};

const listResources = (value: unknown): readonly (readonly [module: string, PlannedResource])[] =>
  listObjects(value).map((resource) => [toText(resource['module_address']) ?? '', toResource(resource)]);

/** An output is a value without attributes, so it is compared as an attribute with its name. */
const toOutput = ([name, change]: readonly [string, unknown]): PlannedResource => {
  const compared = toTwoValues(isObject(change) ? change : {});
  const wrap = (value: unknown) => ({ [name]: value });
  const attributes = compareValues(
    {
      before: wrap(compared.before),
      after: wrap(compared.after),
      beforeMark: wrap(compared.beforeMark),
      afterMark: wrap(compared.afterMark),
      unknown: wrap(compared.unknown),
    },
    [],
  ).map(([path, leaf]) => ({ ...leaf, path: path.join('.'), forcesReplacement: false }));
  return { address: name, action: ACTIONS[String(getMember(change, 'actions'))] ?? 'none', notes: [], attributes };
};

/** Something other than terraform has done it already. */
const toDrift = (resource: PlannedResource): PlannedResource => {
  const { action } = resource;
  if (action === 'delete') return { ...resource, action: 'deleted' };
  return action === 'update' ? { ...resource, action: 'changed' } : resource;
};

/** Returns what a plan changes. Resources without a change are left out. */
export const readPlanChanges = (document: PlanPart): PlanChanges => {
  const modules = new Map<string, PlannedResource[]>();
  for (const [module, resource] of listResources(document['resource_changes'])) {
    if (resource.action === 'none') continue;
    const resources = modules.get(module) ?? [];
    modules.set(module, resources);
    resources.push(resource);
  }
  const outputs = isObject(document['output_changes']) ? Object.entries(document['output_changes']) : [];
  return {
    modules: [...modules].map(([module, resources]) => ({ module, resources })),
    outputs: outputs.map((output) => toOutput(output)).filter(({ action }) => action !== 'none'),
    drift: listResources(document['resource_drift']).map(([, resource]) => toDrift(resource)),
  };
};
