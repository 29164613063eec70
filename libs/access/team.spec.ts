import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { NO_ORGANIZATION_ACCESS, team, type TeamEvent } from './team.js';

const { given } = specify(team);

const core = { name: 'core', visibility: 'secret', organizationAccess: NO_ORGANIZATION_ACCESS } as const;
const born: TeamEvent = { type: 'TeamCreated', data: core };
const ada: TeamEvent = { type: 'TeamMemberAdded', data: { user: 'user-ada', username: 'ada' } };
const add = (user: string, username: string) => ({ type: 'AddTeamMember', data: { user, username } }) as const;

describe('a team', () => {
  it('is born with what it may do, and without members', () =>
    given().when({ type: 'CreateTeam', data: core }).yields(born));

  it('is born once', () =>
    given(born).when({ type: 'CreateTeam', data: core }).refuses('conflict', 'Team exists already'));

  it('takes members', () =>
    given(born, ada)
      .when(add('user-bob', 'bob'))
      .yields({ type: 'TeamMemberAdded', data: { user: 'user-bob', username: 'bob' } }));

  it('says nothing of a member that it has', () => given(born, ada).when(add('user-ada', 'ada')).yields());

  it('must be there to take members', () => given().when(add('user-ada', 'ada')).refuses('not-found', 'Not found'));
});
