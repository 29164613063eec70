export type { FeatureSet, OrganizationEvent } from './organizations/organization.js';
export type { OrganizationSettings } from './organizations/organization-settings.js';
export { ALL_ORGANIZATIONS, publishedOrganizations } from './organizations/organizations.published.js';
export { publishedProjects } from './projects/projects.published.js';
export { OrganizationsModule, organizationsDefinition } from './organizations.module.js';
export type { ProjectEvent } from './projects/project.js';
export type { OrganizationRow } from './organizations/organizations.queries.js';
export type { ProjectRow } from './projects/projects.queries.js';
export { hasOrganizations } from './organizations/existing-organizations.queries.js';
export { selectRelatedOrganizations, selectRelatedProjects } from './organizations.related.js';
export { ChangeProject } from './projects/projects.handler.js';
export { prepareOrganization } from './organizations/new-organization.writes.js';
export {
  completeImport,
  findSimilarOrganization,
  reserveOrganizationName,
} from './organizations/imported-organization.writes.js';
export { project, type ProjectState } from './projects/project.js';
