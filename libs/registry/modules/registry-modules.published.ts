import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderRegistryModule } from './registry-modules.document.js';
import { selectModulesByIds, type RegistryModuleRow } from './registry-modules.queries.js';

/** The latest documents of modules, for the state topic of the registry. */
export const publishedModules: PublishedResource = {
  type: 'registry-modules',
  topic: 'registry.state',
  description: 'Private modules with the statuses of their versions.',
  schemaVersion: 1,
  tables: ['registry_modules', 'registry_module_versions', 'organizations'],
  alsoChangedBy: [],
  streamColumn: 'id',
  findAffected: ({ type, stream }) =>
    type.startsWith('RegistryModule') ? { in: 'keys', keys: [stream] } : { in: 'organization' },
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<RegistryModuleRow>(selectModulesByIds(keys), (rows) =>
      rows.map((row) => ({ key: row.id, document: renderDocument(renderRegistryModule(row, owner)) })),
    ),
  selectKeys: (scope) =>
    'organization' in scope
      ? sql`select id as key from registry_modules where organization = ${scope.organization}`
      : sql`select id as key from registry_modules where false`,
};
