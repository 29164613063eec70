import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  hasNoChanges,
  PATH_NAME_RULE,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';

export type PolicySetSettings = {
  readonly name: string;
  readonly description: string;
  /** Whether it belongs to every workspace of the organization. */
  readonly global: boolean;
  /** Whether a person can override the failure of its mandatory policies. */
  readonly overridable: boolean;
  /** An exact version of OPA; null for the newest one. */
  readonly toolVersion: string | null;
};

/** What a policy set refers to. An exclusion counts more than everything else. */
export const POLICY_SET_RELATIONS = [
  'policies',
  'workspaces',
  'projects',
  'workspace-exclusions',
  'project-exclusions',
] as const;
export type PolicySetRelation = (typeof POLICY_SET_RELATIONS)[number];

export type PolicySetMembers = Readonly<Record<PolicySetRelation, readonly string[]>>;

export const NO_MEMBERS: PolicySetMembers = {
  policies: [],
  workspaces: [],
  projects: [],
  'workspace-exclusions': [],
  'project-exclusions': [],
};

const settings = {
  name: z.string(),
  description: z.string(),
  global: z.boolean(),
  overridable: z.boolean(),
  toolVersion: z.string().nullable(),
};

const idList = z.array(z.string());
const members = z.strictObject({
  policies: idList,
  workspaces: idList,
  projects: idList,
  'workspace-exclusions': idList,
  'project-exclusions': idList,
});

const meta = ({ name, global, overridable, toolVersion }: PolicySetSettings) => ({
  policy_set_name: name,
  policy_set_kind: 'opa',
  policy_set_global: global,
  policy_set_overridable: overridable,
  policy_set_tool_version: toolVersion,
});

const MEMBER_IDS = {
  policies: ['pol'],
  workspaces: ['ws'],
  projects: ['prj'],
  'workspace-exclusions': ['ws'],
  'project-exclusions': ['prj'],
} as const satisfies Readonly<Record<PolicySetRelation, readonly string[]>>;

const refersTo = Object.fromEntries(
  POLICY_SET_RELATIONS.flatMap((relation) =>
    ['members', 'added', 'removed'].map((field) => [`${field}.${relation}[]`, MEMBER_IDS[relation]]),
  ),
);

const pickIds = (...fields: readonly string[]) => ({
  refersTo: Object.fromEntries(
    Object.entries(refersTo).filter(([path]) => fields.some((field) => path.startsWith(`${field}.`))),
  ),
});

/** Returns the relations under the names that the trail uses. */
const toTrailMembers = ({
  'workspace-exclusions': workspaceExclusions,
  'project-exclusions': projectExclusions,
  ...all
}: PolicySetMembers) => ({
  ...all,
  workspace_exclusions: workspaceExclusions,
  project_exclusions: projectExclusions,
});

/** Returns only the relations that name something. */
const pickFilled = (all: PolicySetMembers) =>
  Object.fromEntries(Object.entries(toTrailMembers(all)).filter(([, ids]) => ids.length > 0));

/**
 * The policies that the plans of some workspaces must pass.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const policySetEvents = defineEvents(
  { topic: 'policies', stream: 'polset', audited: 'policy_set', live: inOrganization('policy-sets', 'read-policies') },
  {
    PolicySetCreated: {
      schema: z.strictObject({ ...settings, members }),
      audit: { action: 'create', meta: ({ members: all, ...set }) => ({ ...meta(set), ...toTrailMembers(all) }) },
      live: 'created',
      ids: pickIds('members'),
    },
    /** With all settings, because the trail shows them. */
    PolicySetUpdated: { schema: z.strictObject(settings), audit: { action: 'update', meta }, live: 'changed' },
    PolicySetMembersChanged: {
      schema: z.strictObject({ ...settings, added: members, removed: members }),
      audit: {
        action: 'update',
        meta: ({ added, removed, ...set }) => ({
          ...meta(set),
          added: pickFilled(added),
          removed: pickFilled(removed),
        }),
      },
      live: 'changed',
      ids: pickIds('added', 'removed'),
    },
    PolicySetDeleted: { schema: z.strictObject(settings), audit: { action: 'destroy', meta }, live: 'deleted' },
  },
);

export type PolicySetEvent = EventsOf<typeof policySetEvents>;

export type PolicySetCommand =
  | Message<'CreatePolicySet', PolicySetSettings & { members: PolicySetMembers }>
  /** `members`: each list replaces those of its relation. `existing`: the members of the set that exist. */
  | Message<
      'UpdatePolicySet',
      { changes: Partial<PolicySetSettings>; members: Partial<PolicySetMembers>; existing: PolicySetMembers }
    >
  | Message<'AttachToPolicySet', { relation: PolicySetRelation; ids: readonly string[]; existing: PolicySetMembers }>
  | Message<'DetachFromPolicySet', { relation: PolicySetRelation; ids: readonly string[] }>
  | Message<'DeletePolicySet', Record<never, never>>;

type ActivePolicySet = PolicySetSettings & { readonly status: 'active'; readonly members: PolicySetMembers };
type PolicySetState = { readonly status: 'absent' | 'deleted' } | ActivePolicySet;

const NAME_RULE = { ...PATH_NAME_RULE, most: 255 };
const MAX_DESCRIPTION = 1_000;
/** Of each relation. */
const MAX_MEMBERS = { policies: 100, others: 1_000 };

const getMostMembers = (relation: PolicySetRelation): number =>
  relation === 'policies' ? MAX_MEMBERS.policies : MAX_MEMBERS.others;

const checkDescription = ({ description: { length } }: PolicySetSettings): void => {
  if (length <= MAX_DESCRIPTION) return;
  throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION} characters), got ${length}`, 'description');
};

const checkMembers = ({ global }: PolicySetSettings, all: PolicySetMembers): void => {
  const attached = (['workspaces', 'projects'] as const).find((relation) => all[relation].length > 0);
  if (global && attached)
    throw unprocessable(`A global policy set belongs to every workspace: it cannot have ${attached}`, attached);
  for (const relation of POLICY_SET_RELATIONS) {
    const most = getMostMembers(relation);
    const { length } = all[relation];
    if (length > most)
      throw unprocessable(`A policy set can have at most ${most} ${relation}, got ${length}`, relation);
  }
};

const checkPolicySet = (set: PolicySetSettings, all: PolicySetMembers): void =>
  runAllChecks(
    () => checkName(set.name, NAME_RULE),
    () => checkDescription(set),
    () => checkMembers(set, all),
  );

const mapMembers = (change: (relation: PolicySetRelation) => readonly string[]): PolicySetMembers => ({
  policies: change('policies'),
  workspaces: change('workspaces'),
  projects: change('projects'),
  'workspace-exclusions': change('workspace-exclusions'),
  'project-exclusions': change('project-exclusions'),
});

const getSettings = ({ status: _status, members: _members, ...set }: ActivePolicySet): PolicySetSettings => set;

const addAll = (before: readonly string[], added: readonly string[]): readonly string[] => [
  ...new Set([...before, ...added]),
];

const removeAll = (before: readonly string[], removed: readonly string[]): readonly string[] => {
  const removedIds = new Set(removed);
  return before.filter((id) => !removedIds.has(id));
};

/**
 * Returns the members without those that were deleted, of relations that have more than their limit. Others keep them: a deleted
 * workspace can be recovered.
 */
const dropDeleted = (all: PolicySetMembers, before: ActivePolicySet, existing: PolicySetMembers): PolicySetMembers =>
  mapMembers((relation) => {
    if (all[relation].length <= getMostMembers(relation)) return all[relation];
    const deleted = new Set(removeAll(before.members[relation], existing[relation]));
    return all[relation].filter((id) => !deleted.has(id));
  });

const isFilled = (all: PolicySetMembers): boolean => POLICY_SET_RELATIONS.some((relation) => all[relation].length > 0);

/** Returns the events from one state of an active set to another. */
const decideChange = (
  before: ActivePolicySet,
  set: PolicySetSettings,
  members: PolicySetMembers,
): readonly PolicySetEvent[] => {
  checkPolicySet(set, members);
  const added = mapMembers((relation) => removeAll(members[relation], before.members[relation]));
  const removed = mapMembers((relation) => removeAll(before.members[relation], members[relation]));
  const isChanged = !hasNoChanges(pickChanged(getSettings(before), set));
  return [
    ...(isChanged ? [{ type: 'PolicySetUpdated', data: set } as const] : []),
    ...(isFilled(added) || isFilled(removed)
      ? [{ type: 'PolicySetMembersChanged', data: { ...set, added, removed } } as const]
      : []),
  ];
};

export const policySet: Decider<PolicySetState, PolicySetCommand, PolicySetEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreatePolicySet: ({ members: requested, ...set }, state) => {
      if (state.status !== 'absent') throw conflict('Policy set exists already');
      const all = mapMembers((relation) => addAll([], requested[relation]));
      checkPolicySet(set, all);
      return [{ type: 'PolicySetCreated', data: { ...set, members: all } }];
    },
    UpdatePolicySet: ({ changes, members: requested, existing }, state) => {
      const before = requireActive(state);
      const set = { ...getSettings(before), ...changes };
      const becomesGlobal = set.global && !before.global;
      const previous = becomesGlobal ? { ...before.members, workspaces: [], projects: [] } : before.members;
      const after = mapMembers((relation) => addAll([], requested[relation] ?? previous[relation]));
      return decideChange(before, set, dropDeleted(after, before, existing));
    },
    AttachToPolicySet: ({ relation, ids, existing }, state) => {
      const before = requireActive(state);
      const after = { ...before.members, [relation]: addAll(before.members[relation], ids) };
      return decideChange(before, getSettings(before), dropDeleted(after, before, existing));
    },
    DetachFromPolicySet: ({ relation, ids }, state) => {
      const before = requireActive(state);
      if (before.global && (relation === 'workspaces' || relation === 'projects'))
        throw unprocessable(`A global policy set belongs to every workspace: it has no ${relation}`, relation);
      const after = { ...before.members, [relation]: removeAll(before.members[relation], ids) };
      return decideChange(before, getSettings(before), after);
    },
    DeletePolicySet: (_, state) => [{ type: 'PolicySetDeleted', data: getSettings(requireActive(state)) }],
  },
  evolve: {
    PolicySetCreated: (created) => ({ status: 'active', ...created }),
    PolicySetUpdated: (after, state) => ({ members: NO_MEMBERS, ...state, status: 'active', ...after }),
    PolicySetMembersChanged: ({ added, removed, ...set }, state) => {
      const before = state.status === 'active' ? state.members : NO_MEMBERS;
      const after = mapMembers((relation) => addAll(removeAll(before[relation], removed[relation]), added[relation]));
      return { status: 'active', ...set, members: after };
    },
    PolicySetDeleted: () => ({ status: 'deleted' }),
  },
};
