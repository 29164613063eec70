import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { ORGANIZATION_NAMES, PROJECT_NAMES } from '#api/access';
import { organization } from './organizations/organization.js';
import { organizationEvents } from './organizations.events.js';
import {
  organizationEpochs,
  organizations,
  projectNames,
  projects,
  refillReservedNames,
  reservedNames,
} from './organizations.projection.js';
import { project } from './projects/project.js';
import { projectTags } from './projects/project-tags.projection.js';

export const organizationsDefinition: ModuleDefinition = {
  name: 'organizations',
  kinds: organizationEvents,
  aggregates: [defineAggregate('org', organization), defineAggregate('prj', project)],
  projections: [
    toProjection(organizations),
    toProjection(reservedNames),
    toProjection(organizationEpochs),
    toProjection(projects),
    toProjection(projectNames),
    toProjection(projectTags),
  ],
  followers: [],
  uniqueNames: [ORGANIZATION_NAMES, PROJECT_NAMES],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'organizations.reserved_names', backup: 'refill', refill: refillReservedNames() }],
};
