import {
  checkAll,
  checkName,
  conflict,
  differences,
  isNothing,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#kernel';

export type VariableSetFacts = {
  readonly name: string;
  readonly description: string | null;
  /** It counts in all workspaces of the organization. */
  readonly global: boolean;
  /** Its variables win over those of narrower scopes. */
  readonly priority: boolean;
};

export type VariableSetChanges = Partial<VariableSetFacts>;

/** What a set is applied to. */
export const KINDS = ['workspaces', 'projects'] as const;
export type Kind = (typeof KINDS)[number];
export type Targets = Readonly<Record<Kind, readonly string[]>>;

export const NO_TARGETS: Targets = { workspaces: [], projects: [] };

export type VariableSetEvent =
  /** `project` owns it; the organization does where that is null. */
  | Message<'VariableSetCreated', VariableSetFacts & { project: string | null }>
  | Message<'VariableSetUpdated', { changes: VariableSetChanges }>
  | Message<'VariableSetApplied', Targets>
  | Message<'VariableSetWithdrawn', Targets>
  | Message<'VariableSetDeleted', { name: string }>;

export type VariableSetCommand =
  | Message<'CreateVariableSet', VariableSetFacts & { project: string | null; targets: Targets }>
  /** Of `targets` each list that is there replaces what the set is applied to. */
  | Message<'UpdateVariableSet', { changes: VariableSetChanges; targets: Partial<Targets> }>
  | Message<'ApplyVariableSet', Targets>
  | Message<'WithdrawVariableSet', Targets>
  | Message<'DeleteVariableSet', Record<never, never>>;

type Active = VariableSetFacts & {
  readonly status: 'active';
  readonly project: string | null;
  readonly targets: Targets;
};
export type VariableSet = { readonly status: 'absent' | 'deleted' } | Active;

const NAME = { most: 255 };
const DESCRIPTION_MOST = 512;

const checkDescription = (description: string | null | undefined): void => {
  if (description && description.length > DESCRIPTION_MOST) {
    throw unprocessable(`Description is too long (at most ${DESCRIPTION_MOST} characters)`, 'description');
  }
};

type Texts = { readonly name?: string | undefined; readonly description?: string | null | undefined };

/** The rules for single attributes; absent ones are not checked. */
export const checkVariableSet = ({ name, description }: Texts): void =>
  checkAll(
    () => name !== undefined && checkName(name, NAME),
    () => checkDescription(description),
  );

const checkGlobal = (global: boolean, project: string | null): void => {
  if (global && project) throw unprocessable('Global must be false where a project owns the variable set', 'global');
};

const mapped = (change: (kind: Kind) => readonly string[]): Targets => ({
  workspaces: change('workspaces'),
  projects: change('projects'),
});

const without = (ids: readonly string[], others: readonly string[]): string[] => {
  const known = new Set(others);
  return [...new Set(ids)].filter((id) => !known.has(id));
};

const isEmpty = (targets: Targets): boolean => KINDS.every((kind) => targets[kind].length === 0);

const applied = (targets: Targets, before: Targets): readonly VariableSetEvent[] => {
  const data = mapped((kind) => without(targets[kind], before[kind]));
  return isEmpty(data) ? [] : [{ type: 'VariableSetApplied', data }];
};

const withdrawn = (targets: Targets, before: Targets): readonly VariableSetEvent[] => {
  const data = mapped((kind) => before[kind].filter((id) => targets[kind].includes(id)));
  return isEmpty(data) ? [] : [{ type: 'VariableSetWithdrawn', data }];
};

/** A global set is applied to nothing in particular. */
const single = ({ global }: Active): void => {
  if (global) throw unprocessable('A global variable set cannot be applied to workspaces or projects');
};

export const variableSet: Decider<VariableSet, VariableSetCommand, VariableSetEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateVariableSet: ({ name, description, global, priority, project, targets }, state) => {
      if (state.status !== 'absent') throw conflict('Variable set exists already');
      checkAll(
        () => checkVariableSet({ name, description }),
        () => checkGlobal(global, project),
      );
      return [
        { type: 'VariableSetCreated', data: { name, description, global, priority, project } },
        ...(global ? [] : applied(targets, NO_TARGETS)),
      ];
    },
    UpdateVariableSet: ({ changes, targets }, state) => {
      const before = requireActive(state);
      const changed = differences(before, changes);
      checkAll(
        () => checkVariableSet(changed),
        () => checkGlobal(changed.global ?? false, before.project),
      );
      const after = { ...before, ...changed };
      const wanted = after.global ? NO_TARGETS : { ...before.targets, ...targets };
      return [
        ...(isNothing(changed) ? [] : [{ type: 'VariableSetUpdated', data: { changes: changed } } as const]),
        ...withdrawn(
          mapped((kind) => without(before.targets[kind], wanted[kind])),
          before.targets,
        ),
        ...applied(wanted, before.targets),
      ];
    },
    ApplyVariableSet: (targets, state) => {
      const before = requireActive(state);
      single(before);
      return applied(targets, before.targets);
    },
    WithdrawVariableSet: (targets, state) => {
      const before = requireActive(state);
      single(before);
      return withdrawn(targets, before.targets);
    },
    DeleteVariableSet: (_, state) => [{ type: 'VariableSetDeleted', data: { name: requireActive(state).name } }],
  },
  evolve: {
    VariableSetCreated: (facts) => ({ status: 'active', ...facts, targets: NO_TARGETS }),
    VariableSetUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    VariableSetApplied: (added, state) =>
      state.status === 'active'
        ? { ...state, targets: mapped((kind) => [...state.targets[kind], ...added[kind]]) }
        : state,
    VariableSetWithdrawn: (removed, state) =>
      state.status === 'active'
        ? { ...state, targets: mapped((kind) => without(state.targets[kind], removed[kind])) }
        : state,
    VariableSetDeleted: () => ({ status: 'deleted' }),
  },
};
