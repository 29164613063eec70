import { describe, expect, it } from '@jest/globals';
import { upcastEventData } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import { peopleEvents } from '../people.events.js';
import { NO_ORGANIZATION_ACCESS } from '#api/access/rules';
import { team, type TeamMember, type TeamCommand, type TeamEvent } from './team.js';

const { given } = specify(team);

const creation = {
  name: 'core',
  visibility: 'secret',
  ssoTeamId: null,
  allowMemberTokenManagement: true,
  organizationAccess: NO_ORGANIZATION_ACCESS,
} as const;
const created: TeamEvent = { type: 'TeamCreated', data: creation };
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
  it('is created secret, without members and without permissions', () => given().when(create).yields(created));

  it('is created with the attributes of the command', () =>
    given()
      .when({
        type: 'CreateTeam',
        data: { name: 'core', visibility: 'organization', ssoTeamId: 'sso', organizationAccess: { manageTeams: true } },
      })
      .yields({
        type: 'TeamCreated',
        data: {
          ...creation,
          visibility: 'organization',
          ssoTeamId: 'sso',
          organizationAccess: { ...NO_ORGANIZATION_ACCESS, manageTeams: true },
        },
      }));

  it('is created once', () => given(created).when(create).refuses('conflict', 'Team exists already'));

  it.each([
    ['', "Name can't be blank"],
    ...['a/b', ' a', 'a ', 'a\tb', 'a\nb', 'a\u00a0b'].map((name) => [
      name,
      'Name may only contain letters, numbers, dashes and underscores, and spaces between them',
    ]),
    ['é', 'Name may only contain'],
    ['x'.repeat(91), 'Name is too long'],
  ])('refuses the name %j', (name, detail) => {
    given().when({ type: 'CreateTeam', data: { name } }).refuses('unprocessable', detail);
    given(created).when(update({ name })).refuses('unprocessable', detail);
  });

  it('records only changed attributes, flag by flag', () => {
    given(created)
      .when(update({ name: 'core', visibility: 'organization', organizationAccess: { manageTeams: true } }))
      .yields({
        type: 'TeamUpdated',
        data: { changes: { visibility: 'organization', organizationAccess: { manageTeams: true } } },
      });
    const flags = { manageTeams: true, readProjects: false };
    const after: TeamEvent = { type: 'TeamUpdated', data: { changes: { organizationAccess: flags } } };
    given(created, after)
      .when(update({ organizationAccess: flags }))
      .yields();
    given(created, after)
      .when(update({ organizationAccess: { readProjects: true } }))
      .yields({ type: 'TeamUpdated', data: { changes: { organizationAccess: { readProjects: true } } } });
  });

  it('clears an attribute that is set to null', () =>
    given(created, { type: 'TeamUpdated', data: { changes: { ssoTeamId: 'sso' } } })
      .when(update({ ssoTeamId: null }))
      .yields({ type: 'TeamUpdated', data: { changes: { ssoTeamId: null } } }));

  it('is deleted once, and refuses every command afterwards', () => {
    const destroy: TeamCommand = { type: 'DeleteTeam', data: { ofOwners: false } };
    given(created).when(destroy).yields(deleted);
    for (const command of [destroy, update({}), add(ada), remove(null, ada)]) {
      given(created, deleted).when(command).refuses('not-found', 'Not found');
      given().when(command).refuses('not-found', 'Not found');
    }
    given(created, deleted).when(create).refuses('conflict', 'Team exists already');
  });
});

describe('members of a team', () => {
  it('are added with one event each', () => given(created).when(add(ada, bob)).yields(added(ada), added(bob)));
  it('are added only once', () => given(created, added(ada)).when(add(ada, bob)).yields(added(bob)));
  it('are added once if the command names them twice', () => given(created).when(add(ada, ada)).yields(added(ada)));
  it('are removed with one event each', () =>
    given(created, added(ada), added(bob))
      .when(remove(null, ada, bob))
      .yields(removed(ada), removed(bob)));
  it('are not removed if they are not in the team', () => given(created, added(ada)).when(remove(null, bob)).yields());
  it('are added and removed with their invitation until they accept it', () => {
    const invited: TeamMember = { ...ada, invitation: { membership: 'ou-ada', email: 'ada@people.test' } };
    given(created).when(add(invited)).yields(added(invited));
    given(created, added(invited)).when(remove(null, invited)).yields(removed(invited));
    given(created, added(invited)).when(remove(null, ada)).yields(removed(ada));
  });
  it('can be added again after their removal', () =>
    given(created, added(ada), removed(ada)).when(add(ada)).yields(added(ada)));
});

describe('the owners team', () => {
  const of = { ofOwners: true };

  it('keeps its name, visibility and permissions, and cannot be deleted', () => {
    const open: TeamEvent = { type: 'TeamCreated', data: { ...creation, visibility: 'organization' } };
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

  it('accepts unchanged attributes and a new SSO id', () => {
    given(created)
      .when(update({ name: 'core', visibility: 'secret', organizationAccess: {} }, true))
      .yields();
    given(created)
      .when(update({ ssoTeamId: 'sso' }, true))
      .yields({ type: 'TeamUpdated', data: { changes: { ssoTeamId: 'sso' } } });
  });

  it('keeps at least one active owner', () => {
    const both = given(created, added(ada), added(bob));
    both.when(remove(['user-ada', 'user-bob'], ada)).yields(removed(ada));
    both.when(remove(['user-ada', 'user-bob'], ada, bob)).refuses('unprocessable', 'last active owner');
    both.when(remove(['user-ada'], ada)).refuses('unprocessable', 'last active owner');
    both.when(remove(['user-ada'], bob)).yields(removed(bob));
  });
});

describe('a team of an old log', () => {
  it('gets defaults for attributes that were added later', () => {
    const { organizationAccess, visibility, name } = creation;
    const { accessSecretTeams: _, ...old } = organizationAccess;
    const first = { name, visibility, organizationAccess: { ...old, manageTeams: true } };
    expect(upcastEventData(peopleEvents.TeamCreated, 1, first)).toEqual({
      ...creation,
      organizationAccess: { ...organizationAccess, manageTeams: true },
    });
  });
});
