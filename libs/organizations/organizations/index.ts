export type { FeatureSet, OrganizationEvent } from './organizations/organization.js';
export { ALL_ORGANIZATIONS, publishedOrganizations } from './organizations/organizations.published.js';
export { publishedProjects } from './projects/projects.published.js';
export { OrganizationsModule, organizationsDefinition } from './organizations.module.js';
export { hasOrganizations } from './organizations/existing-organizations.queries.js';
export { selectRelatedOrganizations, selectRelatedProjects } from './organizations.related.js';
export { createExpiredProjectsJob } from './projects/expired-projects.job.js';
export { stopImportedProjects } from './projects/imported-projects.operator.js';
export { ChangeProject } from './projects/projects.handler.js';
export { prepareOrganization } from './organizations/new-organization.writes.js';
export {
  completeImport,
  findSimilarOrganization,
  reserveOrganizationName,
} from './organizations/imported-organization.writes.js';
export { project, type ProjectState } from './projects/project.js';
