export type { FeatureSet, OrganizationEvent, OrganizationSettings } from './organizations/organization.js';
export { OrganizationsModule } from './organizations.module.js';
export type { ProjectEvent } from './projects/project.js';
export type { OrganizationRow } from './organizations/organizations.queries.js';
export type { ProjectRow } from './projects/projects.queries.js';
export { organizationsDefinition } from './organizations.definition.js';
export { findNamesDifferingInCase } from './organizations/organizations.queries.js';
export { selectRelatedOrganizations, selectRelatedProjects } from './organizations.related.js';
export { BindProjectTags } from './projects/projects.handler.js';
