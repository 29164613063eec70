import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument, type Resource } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderOrganization } from './organizations.document.js';
import { selectOrganizationsByIds, type OrganizationRow } from './organizations.queries.js';

/** The address often belongs to a person. */
const withoutEmail = (resource: Resource): Resource => {
  const { email: _, ...attributes } = resource.attributes ?? {};
  return { ...resource, attributes };
};

/** The latest document of each organization, for its state topic. The key is the id that stays after a renaming. */
export const publishedOrganizations: PublishedResource = {
  type: 'organizations',
  topic: 'organizations.state',
  description:
    'Organizations: `GET /api/v2/organizations/:name` without `email`. The key is `external-id`, which a new name does not change.',
  schemaVersion: 1,
  tables: ['organizations', 'data_retention_policies'],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ organization }) => ({ in: 'keys', keys: [organization] }),
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<OrganizationRow>(selectOrganizationsByIds(keys), (rows) =>
      rows.map((row) => ({
        key: row.id,
        document: renderDocument(withoutEmail(renderOrganization(row, owner))),
      })),
    ),
  selectKeys: (scope) =>
    'organization' in scope ? sql`select id as key from organizations where id = ${scope.organization}` : NO_KEYS,
};

/** Selects the ids of all organizations as `key`. */
export const ALL_ORGANIZATIONS = sql`select id as key from organizations order by id`;

const NO_KEYS = sql`select id as key from organizations where false`;
