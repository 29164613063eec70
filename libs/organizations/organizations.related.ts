import type { Sql } from '#kernel';
import { may, type Actor } from '#access';
import { related, type Related } from '#json-api';
import { organizationResource } from './organizations.document.js';
import { organizationsByIds, type OrganizationRow } from './organizations.queries.js';
import { projectResource } from './projects.document.js';
import { projectsByIds, type ProjectRow } from './projects.queries.js';

/** Organizations for documents that bring them along, where the caller may read them. */
export const relatedOrganizations = (ids: Sql, actor: Actor): Related =>
  related<OrganizationRow>(organizationsByIds(ids), (rows) =>
    rows
      .filter(({ id }) => may(actor, 'read-organization', { organization: id }))
      .map((row) => organizationResource(row, actor)),
  );

/** The same for projects. */
export const relatedProjects = (ids: Sql, actor: Actor): Related =>
  related<ProjectRow>(projectsByIds(ids, actor), (rows) =>
    rows.filter((row) => may(actor, 'read-project', row)).map((row) => projectResource(row, actor)),
  );
