export type { FeatureSet, OrganizationEvent, OrganizationSettings } from './organization.js';
export { OrganizationsModule } from './organizations.module.js';
export type { ProjectEvent } from './project.js';
export type { OrganizationRow } from './organizations.queries.js';
export type { ProjectRow } from './projects.queries.js';
export { organizationsDefinition } from './organizations.slice.js';
export { findNamesDifferingInCase } from './organizations.queries.js';
export { selectRelatedOrganizations, selectRelatedProjects } from './organizations.related.js';
export { BindProjectTags } from './projects.handler.js';
