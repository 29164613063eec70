import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import {
  deriveHiddenAccountId,
  createInvitation,
  membership,
  type MembershipCommand,
  type MembershipEvent,
  type MembershipStatus,
} from './membership.js';

const { given } = specify(membership);

const ada = { user: 'user-ada', username: 'ada' };
const id = 'ou-ada';
const email = 'ada@people.test';
const membershipData = (status: MembershipStatus) => ({ ...ada, email, status });
const created = (status: MembershipStatus): MembershipEvent => ({
  type: 'MembershipCreated',
  data: { ...membershipData(status), invitation: createInvitation({ id, email }, status) },
});
const accepted: MembershipEvent = { type: 'MembershipAccepted', data: ada };
const removed: MembershipEvent = { type: 'MembershipRemoved', data: { ...ada, invitation: null } };
const withdrawn: MembershipEvent = {
  type: 'MembershipRemoved',
  data: { ...ada, invitation: { membership: id, email } },
};
const create: MembershipCommand = { type: 'CreateMembership', data: { id, ...membershipData('invited') } };
const accept: MembershipCommand = { type: 'AcceptMembership', data: { username: 'ada' } };
const remove: MembershipCommand = { type: 'RemoveMembership', data: { id, username: 'ada', email } };

describe('a membership', () => {
  it('starts with an invitation, and is created only once', () => {
    given().when(create).yields(created('invited'));
    given(created('invited')).when(create).refuses('conflict', 'exists already');
    given(created('invited'), withdrawn).when(create).refuses('conflict', 'exists already');
  });

  it('becomes active when it is accepted, and stays active if it is accepted again', () => {
    given(created('invited')).when(accept).yields(accepted);
    given(created('invited'), accepted).when(accept).yields();
    given(created('active')).when(accept).yields();
  });

  it('is removed once, invited or active', () => {
    given(created('invited')).when(remove).yields(withdrawn);
    given(created('invited'), accepted).when(remove).yields(removed);
    given(created('active'), removed).when(remove).refuses('not-found', 'Not found');
  });

  it('refuses acceptance and removal before its creation and after its removal', () => {
    for (const command of [accept, remove]) {
      given().when(command).refuses('not-found', 'Not found');
      given(created('invited'), withdrawn).when(command).refuses('not-found', 'Not found');
    }
  });

  it('describes an invitation only while it is not accepted', () => {
    expect(createInvitation({ id, email }, 'invited')).toEqual({ membership: id, email });
    expect(createInvitation({ id, email }, 'active')).toBeNull();
  });

  it('has an id that replaces the id of an invited person’s account', () => {
    expect(deriveHiddenAccountId('ou-0123456789abcdef')).toBe('user-0123456789abcdef');
  });
});
