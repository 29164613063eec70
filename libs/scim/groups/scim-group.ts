import { conflict, hasNoChanges, pickChanged, requireActive, unprocessable, type Decider, type Message } from '#kernel';

export type ScimGroupNames = { readonly displayName: string; readonly externalId: string | null };

export type ScimGroupEvent =
  | Message<'ScimGroupCreated', ScimGroupNames>
  | Message<'ScimGroupUpdated', { changes: Partial<ScimGroupNames> }>
  | Message<'ScimGroupMembersChanged', { added: readonly string[]; removed: readonly string[] }>
  | Message<'ScimGroupDeleted', Record<never, never>>;

export type ScimGroupCommand =
  | Message<'CreateScimGroup', ScimGroupNames>
  | Message<'UpdateScimGroup', { names: ScimGroupNames }>
  /** `members`: ids of users, all of them. */
  | Message<'SetScimGroupMembers', { members: readonly string[] }>
  | Message<'DeleteScimGroup', Record<never, never>>;

type ScimGroupState =
  | { readonly status: 'absent' | 'deleted' }
  | ({ readonly status: 'active'; readonly members: readonly string[] } & ScimGroupNames);

export const MAX_GROUP_MEMBERS = 5_000;

/** Returns the group's name in the `sso-team-id` of teams: the external id, or the display name without one. */
export const getGroupKey = ({ displayName, externalId }: ScimGroupNames): string => externalId ?? displayName;

export const scimGroup: Decider<ScimGroupState, ScimGroupCommand, ScimGroupEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateScimGroup: ({ displayName, externalId }, { status }) => {
      if (status !== 'absent') throw conflict('Group exists already');
      return [{ type: 'ScimGroupCreated', data: { displayName, externalId } }];
    },
    UpdateScimGroup: ({ names }, state) => {
      const { displayName, externalId } = requireActive(state);
      const changes = pickChanged({ displayName, externalId }, names);
      return hasNoChanges(changes) ? [] : [{ type: 'ScimGroupUpdated', data: { changes } }];
    },
    SetScimGroupMembers: ({ members }, state) => {
      const present = new Set(requireActive(state).members);
      const memberIds = new Set(members);
      if (memberIds.size > MAX_GROUP_MEMBERS) {
        throw unprocessable(`A group has at most ${MAX_GROUP_MEMBERS} members, got ${memberIds.size}`);
      }
      const added = [...memberIds].filter((member) => !present.has(member)).toSorted();
      const removed = [...present].filter((member) => !memberIds.has(member)).toSorted();
      if (added.length + removed.length === 0) return [];
      return [{ type: 'ScimGroupMembersChanged', data: { added, removed } }];
    },
    DeleteScimGroup: (_, state) => {
      requireActive(state);
      return [{ type: 'ScimGroupDeleted', data: {} }];
    },
  },
  evolve: {
    ScimGroupCreated: (names) => ({ status: 'active', ...names, members: [] }),
    ScimGroupUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    ScimGroupMembersChanged: ({ added, removed }, state) =>
      state.status === 'active'
        ? { ...state, members: [...state.members.filter((member) => !removed.includes(member)), ...added] }
        : state,
    ScimGroupDeleted: () => ({ status: 'deleted' }),
  },
};
