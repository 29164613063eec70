import {
  conflict,
  hasNoChanges,
  pickChanged,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#platform/kernel';
import { MAX_GROUP_MEMBERS } from '../protocol/scim-bodies.js';

export type ScimGroupNames = { readonly displayName: string; readonly externalId: string | null };

export type ScimGroupEvent =
  /** `source`: the id of the identity provider whose token created the group; `site` for a token without one. */
  | Message<'ScimGroupCreated', ScimGroupNames & { source: string }>
  /** `formerKey`: the key before the change; null if the change keeps it. */
  | Message<'ScimGroupUpdated', { changes: Partial<ScimGroupNames>; formerKey: string | null }>
  | Message<'ScimGroupMembersChanged', { added: readonly string[]; removed: readonly string[] }>
  | Message<'ScimGroupDeleted', { key: string }>;

export type ScimGroupCommand =
  | Message<'CreateScimGroup', ScimGroupNames & { source: string }>
  | Message<'UpdateScimGroup', { names: ScimGroupNames }>
  /** `members`: the ids of all members. */
  | Message<'SetScimGroupMembers', { members: readonly string[] }>
  | Message<'RemoveScimGroupMember', { member: string }>
  | Message<'DeleteScimGroup', Record<never, never>>;

type ScimGroupState =
  | { readonly status: 'absent' | 'deleted' }
  | ({ readonly status: 'active'; readonly members: readonly string[] } & ScimGroupNames);

/** Returns the text that `sso-team-id` of a team must be: the external id, or the display name without one. */
export const getGroupKey = ({ displayName, externalId }: ScimGroupNames): string => externalId ?? displayName;

export const scimGroup: Decider<ScimGroupState, ScimGroupCommand, ScimGroupEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateScimGroup: ({ displayName, externalId, source }, { status }) => {
      if (status !== 'absent') throw conflict('Group exists already');
      return [{ type: 'ScimGroupCreated', data: { displayName, externalId, source } }];
    },
    UpdateScimGroup: ({ names }, state) => {
      const { displayName, externalId } = requireActive(state);
      const changes = pickChanged({ displayName, externalId }, names);
      const key = getGroupKey({ displayName, externalId });
      const formerKey = key === getGroupKey(names) ? null : key;
      return hasNoChanges(changes) ? [] : [{ type: 'ScimGroupUpdated', data: { changes, formerKey } }];
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
    RemoveScimGroupMember: ({ member }, state) =>
      requireActive(state).members.includes(member)
        ? [{ type: 'ScimGroupMembersChanged', data: { added: [], removed: [member] } }]
        : [],
    DeleteScimGroup: (_, state) => [{ type: 'ScimGroupDeleted', data: { key: getGroupKey(requireActive(state)) } }],
  },
  evolve: {
    ScimGroupCreated: ({ displayName, externalId }) => ({ status: 'active', displayName, externalId, members: [] }),
    ScimGroupUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    ScimGroupMembersChanged: ({ added, removed }, state) => {
      if (state.status !== 'active') return state;
      const left = new Set(removed);
      return { ...state, members: [...state.members.filter((member) => !left.has(member)), ...added] };
    },
    ScimGroupDeleted: () => ({ status: 'deleted' }),
  },
};
