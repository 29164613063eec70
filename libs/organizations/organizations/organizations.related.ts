import type { Sql } from '#platform/kernel';
import { can, type Actor } from '#api/access';
import { defineRelated, type RelatedResources } from '#api/json-api';
import { renderOrganization } from './organizations/organizations.document.js';
import { selectOrganizationsByIds, type OrganizationRow } from './organizations/organizations.queries.js';
import { renderProject } from './projects/projects.document.js';
import { selectProjectsByIds, type ProjectRow } from './projects/projects.queries.js';

/** Returns the organizations with these ids that the caller may read, for `included`. */
export const selectRelatedOrganizations = (ids: Sql, actor: Actor): RelatedResources =>
  defineRelated<OrganizationRow>(selectOrganizationsByIds(ids), (rows) =>
    rows
      .filter(({ id }) => can(actor, 'read-organization', { organization: id }))
      .map((row) => renderOrganization(row, actor)),
  );

/** Returns the projects with these ids that the caller may read, for `included`. */
export const selectRelatedProjects = (ids: Sql, actor: Actor): RelatedResources =>
  defineRelated<ProjectRow>(selectProjectsByIds(ids, actor), (rows) =>
    rows.filter((row) => can(actor, 'read-project', row)).map((row) => renderProject(row, actor)),
  );
