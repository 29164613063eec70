import {
  runAllChecks,
  checkName,
  conflict,
  pickChanged,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#platform/kernel';

export type VariableCategory = 'terraform' | 'env';

export type VariableOwner = { readonly type: 'workspaces' | 'varsets'; readonly id: string };

export type VariableAttributes = {
  readonly key: string;
  readonly category: VariableCategory;
  readonly description: string | null;
  readonly hcl: boolean;
  readonly sensitive: boolean;
  /** Null for a sensitive variable: the vault stores its value under the variable's id. */
  readonly value: string | null;
};

export type VariableChanges = Partial<VariableAttributes>;

/** A variable in a request, with its value in plain text. */
export type NewVariable = VariableAttributes & { readonly value: string };

export type VariableEvent =
  | Message<'VariableCreated', VariableAttributes & { owner: VariableOwner }>
  | Message<'VariableUpdated', { changes: VariableChanges }>
  | Message<'VariableDeleted', { key: string }>;

export type VariableCommand =
  | Message<'CreateVariable', NewVariable & { owner: VariableOwner }>
  | Message<'UpdateVariable', { changes: VariableChanges }>
  | Message<'DeleteVariable', Record<never, never>>;

type ActiveVariable = VariableAttributes & { readonly status: 'active' };
type VariableState = { readonly status: 'absent' | 'deleted' } | ActiveVariable;

/** Keys that the vendor accepts. Terraform ignores keys of undeclared variables. */
const KEY = {
  terraform: { pattern: /^\P{Cc}+$/u, accepted: 'it must have no control characters' },
  env: { pattern: /^[^\s=\p{Cc}]+$/u, accepted: "the key of an environment variable has no whitespace and no '='" },
} as const satisfies Record<VariableCategory, { readonly pattern: RegExp; readonly accepted: string }>;

const MAX_KEY_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 512;
const MAX_VALUE_BYTES = 256 * 1_024;

type VariableTexts = {
  readonly [T in 'key' | 'category' | 'description' | 'value']?: VariableAttributes[T] | null | undefined;
};

const checkKey = ({ key, category }: VariableTexts): void => {
  if (typeof key !== 'string') return;
  checkName(key, { attribute: 'key', most: MAX_KEY_LENGTH });
  if (!category) return;
  const { pattern, accepted } = KEY[category];
  if (!pattern.test(key)) throw unprocessable(`Key is invalid: ${accepted}`, 'key');
};

const checkDescription = (description: string | null | undefined): void => {
  if (description && description.length > MAX_DESCRIPTION_LENGTH) {
    throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION_LENGTH} characters)`, 'description');
  }
};

/** Refuses a value that is too long. The text does not contain the value. */
const checkValue = (value: string | null | undefined): void => {
  if (value && Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw unprocessable('Value is too long (at most 256 kilobytes)', 'value');
  }
};

/** Checks the attributes that are present. The rules of a key also depend on the category. */
export const checkVariable = ({ key, category, description, value }: VariableTexts): void =>
  runAllChecks(
    () => checkKey({ key, category }),
    () => checkDescription(description),
    () => checkValue(value),
  );

/** Clients read all variables of a workspace or a set in one request. */
const MAX_VARIABLES = 1_000;
const MAX_VALUES_BYTES = 4 * 1_024 * 1_024;

/** Number of an owner's other variables, and the bytes of their readable values. */
export type StoredVariables = { readonly count: number; readonly bytes: number };

export const NONE_STORED: StoredVariables = { count: 0, bytes: 0 };

/** Refuses a value that would make the list of the owner's variables too long. */
export const checkValueLimit = ({ bytes }: StoredVariables, value: string | null | undefined): void => {
  if (value && bytes + Buffer.byteLength(value) > MAX_VALUES_BYTES) {
    throw unprocessable(
      'Value is too long: all values of a workspace or variable set together have at most 4 megabytes',
      'value',
    );
  }
};

/** Returns the totals after the variable has been added. Refuses variables above the limit. */
export const addToStored = (stored: StoredVariables, { sensitive, value }: NewVariable): StoredVariables => {
  if (stored.count >= MAX_VARIABLES) {
    throw unprocessable(`There are too many variables (at most ${MAX_VARIABLES} in a workspace or variable set)`);
  }
  const readableValue = sensitive ? '' : value;
  checkValueLimit(stored, readableValue);
  return { count: stored.count + 1, bytes: stored.bytes + Buffer.byteLength(readableValue) };
};

/** Refuses to make a secret readable or to change its key. Its category may change. */
const checkSensitive = (state: ActiveVariable, { sensitive, key }: VariableChanges): void => {
  if (!state.sensitive) return;
  if (sensitive === false) {
    throw unprocessable('Sensitive cannot be turned off; delete the variable and create it again', 'sensitive');
  }
  if (key !== undefined) throw unprocessable('Key of a sensitive variable cannot be changed', 'key');
};

/**
 * Returns the new value. Null clears a readable value, but not a sensitive one: documents show it as null, and clients
 * send documents back.
 */
const resolveValue = ({ value }: VariableChanges, { sensitive }: ActiveVariable): string | undefined =>
  value === null && !sensitive ? '' : (value ?? undefined);

const pickVariableChanges = (state: ActiveVariable, changes: VariableChanges): VariableChanges => {
  const { value: _, ...otherChanges } = changes;
  const value = resolveValue(changes, state);
  return pickChanged(state, value === undefined ? otherChanges : { ...otherChanges, value });
};

/** Returns the text that the vault must store with the command's event, or null. */
export const findSecretToStore = (command: VariableCommand, state: VariableState): string | null => {
  switch (command.type) {
    case 'CreateVariable':
      return command.data.sensitive ? command.data.value : null;
    case 'UpdateVariable': {
      const before = requireActive(state);
      const value = resolveValue(command.data.changes, before);
      if (before.sensitive) return value ?? null;
      return command.data.changes.sensitive ? (value ?? before.value) : null;
    }
    case 'DeleteVariable':
      return null;
  }
};

export const variable: Decider<VariableState, VariableCommand, VariableEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateVariable: ({ owner, key, category, description, hcl, sensitive, value }, state) => {
      if (state.status !== 'absent') throw conflict('Variable exists already');
      checkVariable({ key, category, description, value });
      const readableValue = sensitive ? null : value;
      return [
        { type: 'VariableCreated', data: { owner, key, category, description, hcl, sensitive, value: readableValue } },
      ];
    },
    UpdateVariable: ({ changes }, state) => {
      const before = requireActive(state);
      const changed = pickVariableChanges(before, changes);
      const { key, category } = { ...before, ...changed };
      const isRenamed = changed.key !== undefined || changed.category !== undefined;
      runAllChecks(
        () => checkSensitive(before, changed),
        () => checkVariable({ ...changed, ...(isRenamed ? { key, category } : {}) }),
      );
      // An update without changes is a new version too: go-tfe expects another `version-id`.
      const hidden = changed.sensitive === true || (before.sensitive && changed.value !== undefined);
      return [{ type: 'VariableUpdated', data: { changes: hidden ? { ...changed, value: null } : changed } }];
    },
    DeleteVariable: (_, state) => [{ type: 'VariableDeleted', data: { key: requireActive(state).key } }],
  },
  evolve: {
    VariableCreated: ({ key, category, description, hcl, sensitive, value }) => ({
      status: 'active',
      key,
      category,
      description,
      hcl,
      sensitive,
      value,
    }),
    VariableUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    VariableDeleted: () => ({ status: 'deleted' }),
  },
};
