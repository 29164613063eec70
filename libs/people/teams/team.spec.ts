import { describe, expect, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { peopleEvents } from '../people.events.js';
import { NO_ORGANIZATION_ACCESS } from '#access/rules';
import { team, type TeamMember, type TeamCommand, type TeamEvent } from './team.js';

const { given } = specify(team);

const birth = {
  name: 'core',
  visibility: 'secret',
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  organizationAccess: NO_ORGANIZATION_ACCESS,
} as const;
const born: TeamEvent = { type: 'TeamCreated', data: birth };
const ada: TeamMember = { user: 'user-ada', username: 'ada', invitation: null };
const bob: TeamMember = { user: 'user-bob', username: 'bob', invitation: null };
const added = (data: TeamMember): TeamEvent => ({ type: 'TeamMemberAdded', data });
const removed = (data: TeamMember): TeamEvent => ({ type: 'TeamMemberRemoved', data });
const deleted: TeamEvent = { type: 'TeamDeleted', data: { name: 'core' } };

const create: TeamCommand = { type: 'CreateTeam', data: { name: 'core' } };
const add = (...members: TeamMember[]): TeamCommand => ({ type: 'AddTeamMembers', data: { members } });
const remove = (owners: readonly string[] | null, ...members: TeamMember[]): TeamCommand => ({
  type: 'RemoveTeamMembers',
  data: { members, owners },
});
type Update = Extract<TeamCommand, { type: 'UpdateTeam' }>['data'];
const update = (changes: Update['changes'], ofOwners = false): TeamCommand => ({
  type: 'UpdateTeam',
  data: { changes, ofOwners },
});

describe('a team', () => {
  it('is born secret, without members, and may do nothing', () => given().when(create).yields(born));

  it('is born with what it is given', () =>
    given()
      .when({
        type: 'CreateTeam',
        data: { name: 'core', visibility: 'organization', ssoTeamId: 'sso', organizationAccess: { manageTeams: true } },
      })
      .yields({
        type: 'TeamCreated',
        data: {
          ...birth,
          visibility: 'organization',
          ssoTeamId: 'sso',
          organizationAccess: { ...NO_ORGANIZATION_ACCESS, manageTeams: true },
        },
      }));

  it('is born once', () => given(born).when(create).refuses('conflict', 'Team exists already'));

  it.each([
    ['', "Name can't be blank"],
    ...['a/b', ' a', 'a ', 'a\tb', 'a\nb', 'a\u00a0b'].map((name) => [
      name,
      'Name may only contain letters, numbers, dashes and underscores, and spaces between them',
    ]),
    ['é', 'Name may only contain'],
    ['x'.repeat(91), 'Name is too long'],
  ])('is not called %j', (name, detail) => {
    given().when({ type: 'CreateTeam', data: { name } }).refuses('unprocessable', detail);
    given(born).when(update({ name })).refuses('unprocessable', detail);
  });

  it('is changed in what differs, flag by flag', () => {
    given(born)
      .when(update({ name: 'core', visibility: 'organization', organizationAccess: { manageTeams: true } }))
      .yields({
        type: 'TeamUpdated',
        data: { changes: { visibility: 'organization', organizationAccess: { manageTeams: true } } },
      });
    const flags = { manageTeams: true, readProjects: false };
    const after: TeamEvent = { type: 'TeamUpdated', data: { changes: { organizationAccess: flags } } };
    given(born, after)
      .when(update({ organizationAccess: flags }))
      .yields();
    given(born, after)
      .when(update({ organizationAccess: { readProjects: true } }))
      .yields({ type: 'TeamUpdated', data: { changes: { organizationAccess: { readProjects: true } } } });
  });

  it('loses what is cleared', () =>
    given(born, { type: 'TeamUpdated', data: { changes: { ssoTeamId: 'sso' } } })
      .when(update({ ssoTeamId: null }))
      .yields({ type: 'TeamUpdated', data: { changes: { ssoTeamId: null } } }));

  it('is deleted once, and is nothing afterwards', () => {
    const destroy: TeamCommand = { type: 'DeleteTeam', data: { ofOwners: false } };
    given(born).when(destroy).yields(deleted);
    for (const command of [destroy, update({}), add(ada), remove(null, ada)]) {
      given(born, deleted).when(command).refuses('not-found', 'Not found');
      given().when(command).refuses('not-found', 'Not found');
    }
    given(born, deleted).when(create).refuses('conflict', 'Team exists already');
  });
});

describe('members of a team', () => {
  it('come one by one', () => given(born).when(add(ada, bob)).yields(added(ada), added(bob)));
  it('are in it once', () => given(born, added(ada)).when(add(ada, bob)).yields(added(bob)));
  it('named twice come once', () => given(born).when(add(ada, ada)).yields(added(ada)));
  it('go one by one', () =>
    given(born, added(ada), added(bob))
      .when(remove(null, ada, bob))
      .yields(removed(ada), removed(bob)));
  it('who are not in it stay out of it', () => given(born, added(ada)).when(remove(null, bob)).yields());
  it('who are invited are added and removed as invited', () => {
    const invited: TeamMember = { ...ada, invitation: { membership: 'ou-ada', email: 'ada@people.test' } };
    given(born).when(add(invited)).yields(added(invited));
    given(born, added(invited)).when(remove(null, invited)).yields(removed(invited));
    given(born, added(invited)).when(remove(null, ada)).yields(removed(ada));
  });
  it('come back', () => given(born, added(ada), removed(ada)).when(add(ada)).yields(added(ada)));
});

describe('the owners', () => {
  const of = { ofOwners: true };

  it('keep their name, their openness and what they may do', () => {
    const open: TeamEvent = { type: 'TeamCreated', data: { ...birth, visibility: 'organization' } };
    given(open)
      .when(update({ name: 'gang' }, true))
      .refuses('unprocessable', 'owners team cannot be renamed');
    given(open)
      .when(update({ visibility: 'secret' }, true))
      .refuses('unprocessable', 'cannot be made secret');
    given(open)
      .when(update({ organizationAccess: { manageTeams: true } }, true))
      .refuses('unprocessable', 'organization access of the owners team cannot be changed');
    given(open).when({ type: 'DeleteTeam', data: of }).refuses('unprocessable', 'owners team cannot be deleted');
  });

  it('may be told again what they are, and who they are elsewhere', () => {
    given(born)
      .when(update({ name: 'core', visibility: 'secret', organizationAccess: {} }, true))
      .yields();
    given(born)
      .when(update({ ssoTeamId: 'sso' }, true))
      .yields({ type: 'TeamUpdated', data: { changes: { ssoTeamId: 'sso' } } });
  });

  it('are never left without an active one', () => {
    const both = given(born, added(ada), added(bob));
    both.when(remove(['user-ada', 'user-bob'], ada)).yields(removed(ada));
    both.when(remove(['user-ada', 'user-bob'], ada, bob)).refuses('unprocessable', 'last active owner');
    both.when(remove(['user-ada'], ada)).refuses('unprocessable', 'last active owner');
    both.when(remove(['user-ada'], bob)).yields(removed(bob));
  });
});

describe('a team of an old log', () => {
  it('has what came later as it was meant', () => {
    const { organizationAccess, visibility, name } = birth;
    const { accessSecretTeams: _, ...old } = organizationAccess;
    const lift = peopleEvents.TeamCreated.upcast?.[1];
    expect(lift?.({ name, visibility, organizationAccess: { ...old, manageTeams: true } })).toEqual({
      ...birth,
      organizationAccess: { ...organizationAccess, manageTeams: true },
    });
  });
});
