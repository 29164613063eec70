export { checkOrganizationExport } from './inspection/organization-export.check.js';
export { readOrganizationManifest, type OrganizationManifest } from './format/organization-export.manifest.js';
export { exportOrganization, type ExportingSite } from './export/organization.exporter.js';
export {
  importOrganization,
  type ImportDecisions,
  type ImportedOrganization,
  type ImportingSite,
} from './import/organization.importer.js';
export type { ImportPlan } from './import/import-plan.queries.js';
export { ExportInspector } from './inspection/export.inspector.js';
export { parseUserMapping, type UserMapping } from './import/account-plan.js';
