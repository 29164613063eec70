/* The differences of two files with states, in the format of version 4. Members that a file lacks count as absent. */

type StateObject = Readonly<Record<string, unknown>>;

export type ValueDifference = {
  /** The path of an attribute, such as `tags.env`. */
  readonly path: string;
  /** JSON; null for no value. */
  readonly before: string | null;
  readonly after: string | null;
  /** Whether the state marks the value as sensitive. The texts are then empty. */
  readonly isSensitive: boolean;
};

export type ResourceDifference = {
  readonly address: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly values: readonly ValueDifference[];
};

export type StateDifference = {
  readonly resources: readonly ResourceDifference[];
  readonly outputs: readonly ValueDifference[];
};

const isObject = (value: unknown): value is StateObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toObjects = (value: unknown): readonly StateObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

type StateValue = { readonly text: string; readonly isSensitive: boolean };
type ValuesByPath = ReadonlyMap<string, StateValue>;

const flatten = (value: unknown, path: readonly string[]): readonly (readonly [readonly string[], string])[] => {
  const members = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  if (members.length === 0) return [[path, JSON.stringify(value)]];
  return members.flatMap(([name, member]) => flatten(member, [...path, String(name)]));
};

/** A step is `{ type: 'get_attr', value: 'tags' }` or `{ type: 'index', value: { value: 0, type: 'number' } }`. */
const toSegment = ({ value }: StateObject): string => toText(isObject(value) ? value['value'] : value);

const listSensitivePaths = (instance: StateObject): readonly (readonly string[])[] => {
  const paths = instance['sensitive_attributes'];
  return Array.isArray(paths) ? paths.map((path: unknown) => toObjects(path).map((step) => toSegment(step))) : [];
};

const readValues = (instance: StateObject): ValuesByPath => {
  const sensitive = listSensitivePaths(instance);
  return new Map(
    flatten(instance['attributes'] ?? {}, []).map(([path, text]) => {
      const isSensitive = sensitive.some((prefix) => prefix.every((segment, index) => path[index] === segment));
      return [path.join('.'), { text, isSensitive }] as const;
    }),
  );
};

const formatAddress = (resource: StateObject, instance: StateObject): string => {
  const { module, mode, type, name } = resource;
  const index = instance['index_key'];
  const parts = [module, mode === 'data' ? 'data' : undefined, type, name].flatMap((part) =>
    part === undefined ? [] : [toText(part)],
  );
  const deposed = instance['deposed'] === undefined ? '' : ` (deposed ${toText(instance['deposed'])})`;
  return `${parts.join('.')}${index === undefined ? '' : `[${JSON.stringify(index)}]`}${deposed}`;
};

const readInstances = (state: StateObject): ReadonlyMap<string, ValuesByPath> =>
  new Map(
    toObjects(state['resources']).flatMap((resource) =>
      toObjects(resource['instances']).map(
        (instance) => [formatAddress(resource, instance), readValues(instance)] as const,
      ),
    ),
  );

const readOutputs = (state: StateObject): ValuesByPath => {
  const outputs = isObject(state['outputs']) ? Object.entries(state['outputs']) : [];
  return new Map(
    outputs.flatMap(([name, output]) =>
      isObject(output)
        ? [[name, { text: JSON.stringify(output['value']), isSensitive: output['sensitive'] === true }] as const]
        : [],
    ),
  );
};

const NO_VALUES: ValuesByPath = new Map();

const listKeys = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].toSorted();

const compareValues = (before: ValuesByPath, after: ValuesByPath): readonly ValueDifference[] =>
  listKeys(before, after).flatMap((path) => {
    const [old, next] = [before.get(path), after.get(path)];
    if (old?.text === next?.text) return [];
    const isSensitive = old?.isSensitive === true || next?.isSensitive === true;
    const render = (value: StateValue | undefined) => (value === undefined ? null : isSensitive ? '' : value.text);
    return [{ path, before: render(old), after: render(next), isSensitive }];
  });

/** Returns which resources and outputs differ. The values of sensitive attributes are left out. */
export const compareStates = (before: StateObject, after: StateObject): StateDifference => {
  const [old, next] = [readInstances(before), readInstances(after)];
  const resources = listKeys(old, next).flatMap((address): readonly ResourceDifference[] => {
    const values = compareValues(old.get(address) ?? NO_VALUES, next.get(address) ?? NO_VALUES);
    if (!old.has(address)) return [{ address, kind: 'added', values }];
    if (!next.has(address)) return [{ address, kind: 'removed', values }];
    return values.length > 0 ? [{ address, kind: 'changed', values }] : [];
  });
  return { resources, outputs: compareValues(readOutputs(before), readOutputs(after)) };
};
