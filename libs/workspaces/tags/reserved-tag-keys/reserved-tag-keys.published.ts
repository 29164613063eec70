import { sql, type Sql } from '#platform/kernel';
import { defineKeyedDocuments, renderDocument } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderReservedTagKey } from './reserved-tag-keys.document.js';
import { selectReservedTagKeysByIds, type ReservedTagKeyRow } from './reserved-tag-keys.view.js';

/** The latest document of each reserved tag key, for its state topic. */
export const publishedReservedTagKeys: PublishedResource = {
  type: 'reserved-tag-keys',
  topic: 'tags.state',
  description: 'Reserved tag keys, as `GET /api/v2/organizations/:name/reserved-tag-keys` lists them.',
  schemaVersion: 1,
  tables: ['reserved_tag_keys'],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ type, stream }) =>
    type.startsWith('ReservedTagKey') ? { in: 'keys', keys: [stream] } : { in: 'organization' },
  select: (keys: Sql) =>
    defineKeyedDocuments<ReservedTagKeyRow>(selectReservedTagKeysByIds(keys), (rows) =>
      rows.map((row) => ({ key: row.id, document: renderDocument(renderReservedTagKey(row)) })),
    ),
  selectKeys: (scope) =>
    'organization' in scope
      ? sql`select id as key from reserved_tag_keys where organization = ${scope.organization}`
      : sql`select id as key from reserved_tag_keys where false`,
};
