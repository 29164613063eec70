import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { memberActivityFollower } from './activity/member-activity.follower.js';
import { accessEpochs } from './users/access-epochs.projection.js';
import { access, teamNames, usernames } from './people.projection.js';
import { peopleEvents } from './people.events.js';
import { authenticationToken } from './authentication-tokens/authentication-token.js';
import { membership } from './memberships/membership.js';
import { peopleReads } from './reads.events.js';
import { session } from './sessions/session.js';
import { sessionEvents } from './sessions/session.js';
import { sessions } from './sessions/sessions.projection.js';
import { team } from './teams/team.js';
import { TEAM_NAMES } from './teams/team-names.js';
import { teamAccessEvents } from './team-access/team-access.events.js';
import { teamProjects, teamWorkspaces } from './team-access/team-access.projection.js';
import { teamProject } from './team-access/team-project.js';
import { teamWorkspace } from './team-access/team-workspace.js';
import { USER_NAMES } from './users/user-names.js';
import { user } from './users/user.js';

export const peopleDefinition: ModuleDefinition = {
  // Not the name of the module: under this name databases remember which migrations of sql/ they have run
  // (event-store/migrate.ts).
  name: 'access',
  kinds: {
    ...peopleEvents,
    ...teamAccessEvents,
    ...peopleReads,
    ...sessionEvents,
  },
  aggregates: [
    defineAggregate('user', user),
    defineAggregate('ou', membership),
    defineAggregate('team', team),
    defineAggregate('tws', teamWorkspace),
    defineAggregate('tprj', teamProject),
    defineAggregate('at', authenticationToken),
    defineAggregate('ses', session),
  ],
  projections: [
    toProjection(accessEpochs),
    toProjection(access),
    toProjection(teamNames),
    toProjection(usernames),
    toProjection(teamWorkspaces),
    toProjection(teamProjects),
    toProjection(sessions),
  ],
  followers: [memberActivityFollower],
  uniqueNames: [TEAM_NAMES, USER_NAMES],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'access.token_hashes', backup: 'rows', organizationExport: { without: 'tokens are not moved' } },
    { table: 'access.token_uses', backup: 'rows', organizationExport: { without: 'tokens are not moved' } },
    {
      table: 'access.epochs',
      backup: 'empty',
      because: 'gateways start again after a restore, without cached callers',
    },
  ],
};
