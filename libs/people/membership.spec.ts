import { describe, it } from 'vitest';
import { specify } from '#kernel/spec';
import { membership, type MembershipCommand, type MembershipEvent, type MembershipStatus } from './membership.js';

const { given } = specify(membership);

const ada = { user: 'user-ada', username: 'ada' };
const birth = (status: MembershipStatus) => ({ ...ada, email: 'ada@people.test', status });
const created = (status: MembershipStatus): MembershipEvent => ({ type: 'MembershipCreated', data: birth(status) });
const accepted: MembershipEvent = { type: 'MembershipAccepted', data: ada };
const removed: MembershipEvent = { type: 'MembershipRemoved', data: ada };
const create: MembershipCommand = { type: 'CreateMembership', data: birth('invited') };
const accept: MembershipCommand = { type: 'AcceptMembership', data: { username: 'ada' } };
const remove: MembershipCommand = { type: 'RemoveMembership', data: { username: 'ada' } };

describe('a membership', () => {
  it('begins with an invitation, once', () => {
    given().when(create).yields(created('invited'));
    given(created('invited')).when(create).refuses('conflict', 'exists already');
    given(created('invited'), removed).when(create).refuses('conflict', 'exists already');
  });

  it('becomes active when it is accepted, once', () => {
    given(created('invited')).when(accept).yields(accepted);
    given(created('invited'), accepted).when(accept).yields();
    given(created('active')).when(accept).yields();
  });

  it('ends, invited or active, once', () => {
    given(created('invited')).when(remove).yields(removed);
    given(created('invited'), accepted).when(remove).yields(removed);
    given(created('active'), removed).when(remove).refuses('not-found', 'Not found');
  });

  it('is nothing before and after', () => {
    for (const command of [accept, remove]) {
      given().when(command).refuses('not-found', 'Not found');
      given(created('invited'), removed).when(command).refuses('not-found', 'Not found');
    }
  });
});
