export type { FeatureSet, OrganizationEvent, OrganizationSettings } from './organization.js';
export { OrganizationsModule } from './organizations.module.js';
export type { ProjectEvent } from './project.js';
export type { OrganizationRow } from './organizations.queries.js';
export type { ProjectRow } from './projects.queries.js';
export { organizationsSlice } from './organizations.slice.js';
export { namesDifferingInCase } from './organizations.queries.js';
export { relatedOrganizations, relatedProjects } from './organizations.related.js';
export { BindToProject } from './projects.handler.js';
