import {
  checkName,
  conflict,
  hasNoChanges,
  notFound,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type Message,
} from '#platform/kernel';
import { createAddressMatcher, parseAddressRange } from '#api/access/rules';

/**
 * The requests that a list restricts: all but those of agents and runs, those of the agents of every pool, or those of
 * the agents of the pools that are assigned to the list.
 */
export const ENFORCEMENT_SCOPES = ['organization', 'all_agent_pools', 'selected_agent_pools'] as const;
export type EnforcementScope = (typeof ENFORCEMENT_SCOPES)[number];

export type IpAllowlistContent = {
  readonly name: string;
  readonly description: string | null;
  readonly enforcementScope: EnforcementScope;
};

/** `range`: a text of `parseAddressRange`. Only enabled ranges admit addresses. */
export type AllowedRangeContent = {
  readonly range: string;
  readonly description: string | null;
  readonly enabled: boolean;
};

export type AllowedRange = AllowedRangeContent & { readonly id: string };

/**
 * Address ranges from which an organization accepts requests. A list without an enabled range restricts nothing.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export type IpAllowlistEvent =
  | Message<'IpAllowlistCreated', IpAllowlistContent & { ranges: readonly AllowedRange[] }>
  /** All attributes after the change. Another scope than `selected_agent_pools` removes the assigned agent pools. */
  | Message<'IpAllowlistUpdated', IpAllowlistContent>
  | Message<'IpAllowlistRangeAdded', AllowedRange>
  /** All attributes after the change. */
  | Message<'IpAllowlistRangeUpdated', AllowedRange>
  | Message<'IpAllowlistRangeRemoved', { id: string; range: string }>
  | Message<'IpAllowlistAgentPoolsAdded', { agentPools: readonly string[] }>
  | Message<'IpAllowlistAgentPoolsRemoved', { agentPools: readonly string[] }>
  | Message<'IpAllowlistDeleted', { name: string }>;

/** The address of the caller, which the change must not exclude. Null if lists do not restrict the caller. */
type KeptAddress = { readonly keep: string | null };

export type IpAllowlistCommand =
  | Message<'CreateIpAllowlist', IpAllowlistContent & { ranges: readonly AllowedRange[] } & KeptAddress>
  /** An attribute that is absent keeps its value. */
  | Message<'UpdateIpAllowlist', { changes: Partial<IpAllowlistContent> } & KeptAddress>
  | Message<'AddAllowedRange', AllowedRange & KeptAddress>
  | Message<'UpdateAllowedRange', { id: string; changes: Partial<AllowedRangeContent> } & KeptAddress>
  | Message<'RemoveAllowedRange', { id: string } & KeptAddress>
  | Message<'AssignAgentPools', { agentPools: readonly string[] }>
  | Message<'UnassignAgentPools', { agentPools: readonly string[] }>
  | Message<'DeleteIpAllowlist', Record<never, never>>;

type ActiveIpAllowlist = IpAllowlistContent & {
  readonly status: 'active';
  readonly ranges: readonly AllowedRange[];
  readonly agentPools: readonly string[];
};
type IpAllowlistState = { readonly status: 'absent' | 'deleted' } | ActiveIpAllowlist;

const NAME_RULE = { most: 255 };
const MAX_DESCRIPTION = 1_000;
export const MAX_RANGES = 100;
const MAX_AGENT_POOLS = 500;

/** The pointer of a range in the body that creates a list. */
const toNestedPointer = (index: number): string => `/data/relationships/cidr-ranges/data/${index}/attributes/`;

const checkDescription = (description: string | null, at = ''): void => {
  if (description === null || description.length <= MAX_DESCRIPTION) return;
  throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION} characters)`, `${at}description`);
};

const normalizeRange = (text: string, at = ''): string => {
  const parsed = parseAddressRange(text);
  if ('problem' in parsed) throw unprocessable(`Range ${parsed.problem}`, `${at}range`);
  return parsed.range;
};

const checkContent = ({ name, description }: IpAllowlistContent): void =>
  runAllChecks(
    () => checkName(name, NAME_RULE),
    () => checkDescription(description),
  );

const normalizeContent = <T extends AllowedRangeContent>(content: T, at = ''): T => {
  runAllChecks(
    () => normalizeRange(content.range, at),
    () => checkDescription(content.description, at),
  );
  return { ...content, range: normalizeRange(content.range, at) };
};

const requireNewRange = (ranges: readonly AllowedRange[], { id, range }: AllowedRange, at = ''): void => {
  if (ranges.some((other) => other.id !== id && other.range === range)) {
    throw unprocessable(`Range ${range} is in the list already`, `${at}range`);
  }
};

const checkRangeCount = (count: number, pointer?: string): void => {
  if (count <= MAX_RANGES) return;
  throw unprocessable(`A list can have at most ${MAX_RANGES} ranges. Remove a range, or use larger ranges`, pointer);
};

const findRange = (state: ActiveIpAllowlist, id: string): AllowedRange => {
  const range = state.ranges.find((one) => one.id === id);
  if (!range) throw notFound();
  return range;
};

const listEnabled = (ranges: readonly AllowedRange[]): readonly string[] =>
  ranges.flatMap(({ range, enabled }) => (enabled ? [range] : []));

/** Refuses a change after which the list would refuse the next request of the caller. */
const requireKept = (
  { enforcementScope, ranges }: Pick<ActiveIpAllowlist, 'enforcementScope' | 'ranges'>,
  { keep }: KeptAddress,
  pointer?: string,
): void => {
  if (keep === null || enforcementScope !== 'organization') return;
  const enabled = listEnabled(ranges);
  if (enabled.length === 0 || createAddressMatcher(enabled)(keep)) return;
  throw unprocessable(
    `This would lock you out: no enabled range of the list would contain your own address, ${keep}. First add and enable ` +
      'a range that contains it, or make this change from an address that the list would contain',
    pointer,
  );
};

const replaceRange = (ranges: readonly AllowedRange[], changed: AllowedRange): readonly AllowedRange[] =>
  ranges.map((range) => (range.id === changed.id ? changed : range));

const toContent = ({ name, description, enforcementScope }: IpAllowlistContent): IpAllowlistContent => ({
  name,
  description,
  enforcementScope,
});

const decideCreation = (
  { ranges: newRanges, keep, ...rest }: Extract<IpAllowlistCommand, { type: 'CreateIpAllowlist' }>['data'],
  state: IpAllowlistState,
): IpAllowlistEvent[] => {
  if (state.status !== 'absent') throw conflict('IP allowlist exists already');
  const content = toContent(rest);
  checkContent(content);
  checkRangeCount(newRanges.length, '/data/relationships/cidr-ranges/data');
  const ranges = newRanges.map((range, index) => normalizeContent(range, toNestedPointer(index)));
  for (const [index, range] of ranges.entries()) requireNewRange(ranges.slice(0, index), range, toNestedPointer(index));
  requireKept({ ...content, ranges }, { keep }, '/data/relationships/cidr-ranges/data');
  return [{ type: 'IpAllowlistCreated', data: { ...content, ranges } }];
};

const decideAssignment = (agentPools: readonly string[], state: ActiveIpAllowlist): IpAllowlistEvent[] => {
  if (state.enforcementScope !== 'selected_agent_pools') {
    throw unprocessable(
      'Agent pools can be assigned only to a list with the enforcement-scope selected_agent_pools, and this list has ' +
        state.enforcementScope,
      '/data',
    );
  }
  const added = [...new Set(agentPools)].filter((pool) => !state.agentPools.includes(pool));
  if (state.agentPools.length + added.length > MAX_AGENT_POOLS) {
    throw unprocessable(`A list can have at most ${MAX_AGENT_POOLS} agent pools`, '/data');
  }
  return added.length === 0 ? [] : [{ type: 'IpAllowlistAgentPoolsAdded', data: { agentPools: added } }];
};

const decideRangeUpdate = (
  { id, changes, keep }: Extract<IpAllowlistCommand, { type: 'UpdateAllowedRange' }>['data'],
  state: ActiveIpAllowlist,
): IpAllowlistEvent[] => {
  const before = findRange(state, id);
  const after = normalizeContent({ ...before, ...changes });
  if (hasNoChanges(pickChanged(before, after))) return [];
  requireNewRange(state.ranges, after);
  const pointer = changes.range === undefined ? 'enabled' : 'range';
  requireKept({ ...state, ranges: replaceRange(state.ranges, after) }, { keep }, pointer);
  return [{ type: 'IpAllowlistRangeUpdated', data: after }];
};

export const ipAllowlist: Decider<IpAllowlistState, IpAllowlistCommand, IpAllowlistEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateIpAllowlist: decideCreation,
    UpdateIpAllowlist: ({ changes, keep }, state) => {
      const before = requireActive(state);
      const after = toContent({ ...before, ...changes });
      checkContent(after);
      if (hasNoChanges(pickChanged(toContent(before), after))) return [];
      requireKept({ ...before, ...after }, { keep }, 'enforcement-scope');
      return [{ type: 'IpAllowlistUpdated', data: after }];
    },
    AddAllowedRange: ({ keep, ...range }, state) => {
      const { ranges, ...list } = requireActive(state);
      const added = normalizeContent(range);
      requireNewRange(ranges, added);
      checkRangeCount(ranges.length + 1);
      requireKept({ ...list, ranges: [...ranges, added] }, { keep }, 'range');
      return [{ type: 'IpAllowlistRangeAdded', data: added }];
    },
    UpdateAllowedRange: (data, state) => decideRangeUpdate(data, requireActive(state)),
    RemoveAllowedRange: ({ id, keep }, state) => {
      const before = requireActive(state);
      const { range } = findRange(before, id);
      requireKept({ ...before, ranges: before.ranges.filter((other) => other.id !== id) }, { keep });
      return [{ type: 'IpAllowlistRangeRemoved', data: { id, range } }];
    },
    AssignAgentPools: ({ agentPools }, state) => decideAssignment(agentPools, requireActive(state)),
    UnassignAgentPools: ({ agentPools }, state) => {
      const removed = requireActive(state).agentPools.filter((pool) => agentPools.includes(pool));
      return removed.length === 0 ? [] : [{ type: 'IpAllowlistAgentPoolsRemoved', data: { agentPools: removed } }];
    },
    DeleteIpAllowlist: (_, state) => [{ type: 'IpAllowlistDeleted', data: { name: requireActive(state).name } }],
  },
  evolve: {
    IpAllowlistCreated: (data) => ({ status: 'active', agentPools: [], ...data }),
    IpAllowlistUpdated: (content, state) =>
      state.status === 'active'
        ? {
            ...state,
            ...content,
            agentPools: content.enforcementScope === 'selected_agent_pools' ? state.agentPools : [],
          }
        : state,
    IpAllowlistRangeAdded: (range, state) =>
      state.status === 'active' ? { ...state, ranges: [...state.ranges, range] } : state,
    IpAllowlistRangeUpdated: (range, state) =>
      state.status === 'active' ? { ...state, ranges: replaceRange(state.ranges, range) } : state,
    IpAllowlistRangeRemoved: ({ id }, state) =>
      state.status === 'active' ? { ...state, ranges: state.ranges.filter((range) => range.id !== id) } : state,
    IpAllowlistAgentPoolsAdded: ({ agentPools }, state) =>
      state.status === 'active' ? { ...state, agentPools: [...state.agentPools, ...agentPools] } : state,
    IpAllowlistAgentPoolsRemoved: ({ agentPools }, state) =>
      state.status === 'active'
        ? { ...state, agentPools: state.agentPools.filter((pool) => !agentPools.includes(pool)) }
        : state,
    IpAllowlistDeleted: () => ({ status: 'deleted' }),
  },
};
