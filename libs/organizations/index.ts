export type { FeatureSet, OrganizationEvent, OrganizationRow, OrganizationSettings } from './organization.js';
export { OrganizationsModule } from './organizations.module.js';
export type { ProjectEvent, ProjectRow } from './project.js';
export { organizationsSlice } from './organizations.slice.js';
