import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { accessEpochs } from './access-epochs.projection.js';
import { access } from './people.projection.js';
import { peopleEvents } from './people.events.js';
import { authenticationToken } from './authentication-token.js';
import { membership } from './membership.js';
import { peopleReads } from './reads.events.js';
import { team } from './team.js';
import { teamAccessEvents } from './team-access.events.js';
import { teamProjects, teamWorkspaces } from './team-access.projection.js';
import { teamProject } from './team-project.js';
import { teamWorkspace } from './team-workspace.js';
import { user } from './user.js';

export const peopleSlice: Slice = {
  // Not after the room: under this name databases remember which of sql/ they have had (event-store/migrate.ts).
  name: 'access',
  kinds: { ...kindsOf(peopleEvents), ...kindsOf(teamAccessEvents), ...kindsOf(peopleReads) },
  aggregates: [
    aggregate('user', user),
    aggregate('ou', membership),
    aggregate('team', team),
    aggregate('tws', teamWorkspace),
    aggregate('tprj', teamProject),
    aggregate('at', authenticationToken),
  ],
  projections: [
    projectionOf(accessEpochs),
    projectionOf(access),
    projectionOf(teamWorkspaces),
    projectionOf(teamProjects),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
