import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { organization } from './organization.js';
import { organizationEvents } from './organizations.events.js';
import { organizationEpochs, organizations, projects, reservedNames } from './organizations.projection.js';
import { project } from './project.js';

export const organizationsSlice: Slice = {
  name: 'organizations',
  kinds: kindsOf(organizationEvents),
  aggregates: [aggregate('org', organization), aggregate('prj', project)],
  projections: [
    projectionOf(organizations),
    projectionOf(reservedNames),
    projectionOf(organizationEpochs),
    projectionOf(projects),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
