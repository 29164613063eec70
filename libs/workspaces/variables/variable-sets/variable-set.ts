import {
  runAllChecks,
  checkName,
  conflict,
  decidePurge,
  pickChanged,
  hasNoChanges,
  requireActive,
  requireDeleted,
  toDeletedState,
  unprocessable,
  type Decider,
  type Message,
  type PurgeCommandData,
  type RecoverableState,
  type Timestamp,
} from '#platform/kernel';

export type VariableSetAttributes = {
  readonly name: string;
  readonly description: string | null;
  /** Whether the set applies to all workspaces of the organization. */
  readonly global: boolean;
  /** Whether the set's variables win over variables of narrower scopes. */
  readonly priority: boolean;
};

export type VariableSetChanges = Partial<VariableSetAttributes>;

export const VARIABLE_SET_TARGET_KINDS = ['workspaces', 'projects'] as const;
export type VariableSetTargetKind = (typeof VARIABLE_SET_TARGET_KINDS)[number];
export type VariableSetTargets = Readonly<Record<VariableSetTargetKind, readonly string[]>>;

export const NO_TARGETS: VariableSetTargets = { workspaces: [], projects: [] };

export type VariableSetEvent =
  /** `project`: id of the project that owns the set; null if the organization owns it. */
  | Message<'VariableSetCreated', VariableSetAttributes & { project: string | null }>
  | Message<'VariableSetUpdated', { changes: VariableSetChanges }>
  | Message<'VariableSetApplied', VariableSetTargets>
  | Message<'VariableSetWithdrawn', VariableSetTargets>
  /** `recoverableUntil`: null if the deletion is final. */
  | Message<'VariableSetDeleted', { name: string; recoverableUntil: string | null }>
  | Message<'VariableSetRecovered', { name: string }>
  | Message<'VariableSetPurged', { name: string; expired: boolean }>;

export type VariableSetCommand =
  | Message<'CreateVariableSet', VariableSetAttributes & { project: string | null; targets: VariableSetTargets }>
  /** `targets`: each list replaces the targets of its kind; a missing list changes nothing. */
  | Message<'UpdateVariableSet', { changes: VariableSetChanges; targets: Partial<VariableSetTargets> }>
  | Message<'ApplyVariableSet', VariableSetTargets>
  | Message<'WithdrawVariableSet', VariableSetTargets>
  | Message<'DeleteVariableSet', { recoverableUntil: Timestamp | null }>
  /** `name`: default is the name before the deletion. */
  | Message<'RecoverVariableSet', { name: string | undefined }>
  | Message<'PurgeVariableSet', PurgeCommandData>;

type ActiveVariableSet = VariableSetAttributes & {
  readonly status: 'active';
  readonly project: string | null;
  readonly targets: VariableSetTargets;
};
export type VariableSetState = RecoverableState<ActiveVariableSet>;

const NOUN = 'variable set';

const NAME_RULE = { most: 255 };
const MAX_DESCRIPTION_LENGTH = 512;

const checkDescription = (description: string | null | undefined): void => {
  if (description && description.length > MAX_DESCRIPTION_LENGTH) {
    throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION_LENGTH} characters)`, 'description');
  }
};

type VariableSetTexts = { readonly name?: string | undefined; readonly description?: string | null | undefined };

/** Checks the attributes that are present. */
export const checkVariableSet = ({ name, description }: VariableSetTexts): void =>
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => checkDescription(description),
  );

const checkGlobal = (global: boolean, project: string | null): void => {
  if (global && project) throw unprocessable('Global must be false if a project owns the variable set', 'global');
};

const mapTargets = (change: (kind: VariableSetTargetKind) => readonly string[]): VariableSetTargets => ({
  workspaces: change('workspaces'),
  projects: change('projects'),
});

const subtract = (ids: readonly string[], excluded: readonly string[]): string[] => {
  const excludedIds = new Set(excluded);
  return [...new Set(ids)].filter((id) => !excludedIds.has(id));
};

const isEmpty = (targets: VariableSetTargets): boolean =>
  VARIABLE_SET_TARGET_KINDS.every((kind) => targets[kind].length === 0);

const toAppliedEvents = (targets: VariableSetTargets, before: VariableSetTargets): readonly VariableSetEvent[] => {
  const data = mapTargets((kind) => subtract(targets[kind], before[kind]));
  return isEmpty(data) ? [] : [{ type: 'VariableSetApplied', data }];
};

const toWithdrawnEvents = (targets: VariableSetTargets, before: VariableSetTargets): readonly VariableSetEvent[] => {
  const data = mapTargets((kind) => before[kind].filter((id) => targets[kind].includes(id)));
  return isEmpty(data) ? [] : [{ type: 'VariableSetWithdrawn', data }];
};

/** Refuses single targets for a global set, which applies to all workspaces. */
const requireNotGlobal = ({ global }: ActiveVariableSet): void => {
  if (global) throw unprocessable('A global variable set cannot be applied to workspaces or projects');
};

export const variableSet: Decider<VariableSetState, VariableSetCommand, VariableSetEvent> = {
  // Earlier snapshots do not keep deleted sets.
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateVariableSet: ({ name, description, global, priority, project, targets }, state) => {
      if (state.status !== 'absent') throw conflict('Variable set exists already');
      runAllChecks(
        () => checkVariableSet({ name, description }),
        () => checkGlobal(global, project),
      );
      return [
        { type: 'VariableSetCreated', data: { name, description, global, priority, project } },
        ...(global ? [] : toAppliedEvents(targets, NO_TARGETS)),
      ];
    },
    UpdateVariableSet: ({ changes, targets }, state) => {
      const before = requireActive(state);
      const changed = pickChanged(before, changes);
      runAllChecks(
        () => checkVariableSet(changed),
        () => checkGlobal(changed.global ?? false, before.project),
      );
      const after = { ...before, ...changed };
      const newTargets = after.global ? NO_TARGETS : { ...before.targets, ...targets };
      return [
        ...(hasNoChanges(changed) ? [] : [{ type: 'VariableSetUpdated', data: { changes: changed } } as const]),
        ...toWithdrawnEvents(
          mapTargets((kind) => subtract(before.targets[kind], newTargets[kind])),
          before.targets,
        ),
        ...toAppliedEvents(newTargets, before.targets),
      ];
    },
    ApplyVariableSet: (targets, state) => {
      const before = requireActive(state);
      requireNotGlobal(before);
      return toAppliedEvents(targets, before.targets);
    },
    WithdrawVariableSet: (targets, state) => {
      const before = requireActive(state);
      requireNotGlobal(before);
      return toWithdrawnEvents(targets, before.targets);
    },
    DeleteVariableSet: ({ recoverableUntil }, state) => [
      { type: 'VariableSetDeleted', data: { name: requireActive(state).name, recoverableUntil } },
    ],
    RecoverVariableSet: ({ name }, state) => {
      const last = requireDeleted(state, NOUN);
      if (name !== undefined && name !== last.name) checkVariableSet({ name });
      return [{ type: 'VariableSetRecovered', data: { name: name ?? last.name } }];
    },
    PurgeVariableSet: (data, state) =>
      decidePurge(data, state, {
        noun: NOUN,
        purge: ({ name }): VariableSetEvent => ({ type: 'VariableSetPurged', data: { name, ...data } }),
      }),
  },
  evolve: {
    VariableSetCreated: (attributes) => ({ status: 'active', ...attributes, targets: NO_TARGETS }),
    VariableSetUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    VariableSetApplied: (added, state) =>
      state.status === 'active'
        ? { ...state, targets: mapTargets((kind) => [...state.targets[kind], ...added[kind]]) }
        : state,
    VariableSetWithdrawn: (removed, state) =>
      state.status === 'active'
        ? { ...state, targets: mapTargets((kind) => subtract(state.targets[kind], removed[kind])) }
        : state,
    VariableSetDeleted: toDeletedState,
    VariableSetRecovered: ({ name }, state) =>
      state.status === 'deleted' && state.last ? { ...state.last, name } : state,
    VariableSetPurged: () => ({ status: 'deleted', last: null }),
  },
};
