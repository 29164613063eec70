import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { access } from './access.projection.js';
import { accessEvents } from './access.events.js';
import { authenticationToken } from './authentication-token.js';
import { team } from './team.js';
import { user } from './user.js';

export const accessSlice: Slice = {
  name: 'access',
  kinds: kindsOf(accessEvents),
  aggregates: [aggregate('user', user), aggregate('team', team), aggregate('at', authenticationToken)],
  projections: [projectionOf(access)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
