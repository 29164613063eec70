import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { access } from './access.projection.js';
import { accessEvents } from './access.events.js';
import { authenticationToken } from './authentication-token.js';
import { membership } from './membership.js';
import { team } from './team.js';
import { teamAccessEvents } from './team-access.events.js';
import { teamProjects, teamWorkspaces } from './team-access.projection.js';
import { teamProject } from './team-project.js';
import { teamWorkspace } from './team-workspace.js';
import { user } from './user.js';

export const accessSlice: Slice = {
  name: 'access',
  kinds: { ...kindsOf(accessEvents), ...kindsOf(teamAccessEvents) },
  aggregates: [
    aggregate('user', user),
    aggregate('ou', membership),
    aggregate('team', team),
    aggregate('tws', teamWorkspace),
    aggregate('tprj', teamProject),
    aggregate('at', authenticationToken),
  ],
  projections: [projectionOf(access), projectionOf(teamWorkspaces), projectionOf(teamProjects)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
