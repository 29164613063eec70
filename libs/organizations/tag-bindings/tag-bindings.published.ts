import { sql, type Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineKeyedDocuments, renderDocument, type KeyedDocument, type Resource } from '#api/json-api';
import type { PublishedResource } from '#api/state-topics';
import { renderTagBinding } from './tag-bindings.document.js';
import {
  selectBindingsByProject,
  selectBindingsByWorkspace,
  type BindingRow,
  type OwnedBinding,
} from './tag-bindings.queries.js';

const TOPIC = 'tags.state';

const isBindingOfOwner = (row: OwnedBinding): row is OwnedBinding & BindingRow => row.key !== null;

/** Names the principal that set the binding by its id only: it can be a person. */
const withoutName = ({ setBy, ...binding }: BindingRow): Resource => {
  const { attributes, ...resource } = renderTagBinding({ ...binding, setBy });
  return { ...resource, attributes: { ...attributes, 'set-by': setBy && { id: setBy.id, type: setBy.type } } };
};

const renderByOwner = (rows: readonly OwnedBinding[]): readonly KeyedDocument[] =>
  [...Map.groupBy(rows, ({ id }) => id)].map(([owner, own]) => ({
    key: owner,
    document: renderDocument(own.filter(isBindingOfOwner).map(withoutName)),
  }));

const ofWorkspaces: PublishedResource = {
  type: 'workspace-tag-bindings',
  topic: TOPIC,
  description: 'Tag bindings of a workspace: `GET /api/v2/workspaces/:id/tag-bindings`, `set-by` without the name.',
  schemaVersion: 1,
  tables: ['workspace_tags', 'project_tags', 'reserved_tag_keys'],
  // The new project decides which bindings are forbidden.
  alsoChangedBy: ['WorkspaceMoved'],
  streamColumn: 'id',
  findAffected: ({ workspace, projects: [project] }) => {
    if (workspace !== null) return { in: 'keys', keys: [workspace] };
    return project === undefined ? { in: 'organization' } : { in: 'project', project };
  },
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<OwnedBinding>(selectBindingsByWorkspace(keys, owner), renderByOwner),
  selectKeys: (scope) =>
    'project' in scope
      ? sql`select id as key from workspaces where project = ${scope.project}`
      : sql`select id as key from workspaces where organization = ${scope.organization}`,
};

const ofProjects: PublishedResource = {
  type: 'project-tag-bindings',
  topic: TOPIC,
  description: 'Tag bindings of a project: `GET /api/v2/projects/:id/tag-bindings`, `set-by` without the name.',
  schemaVersion: 1,
  tables: ['project_tags'],
  // A project without tags has an empty list.
  alsoChangedBy: ['ProjectCreated', 'OrganizationCreated'],
  streamColumn: 'id',
  findAffected: ({ projects }) => (projects.length > 0 ? { in: 'keys', keys: projects } : { in: 'organization' }),
  select: (keys: Sql, owner: Actor) =>
    defineKeyedDocuments<OwnedBinding>(selectBindingsByProject(keys, owner), renderByOwner),
  selectKeys: (scope) =>
    'project' in scope
      ? sql`select id as key from projects where id = ${scope.project}`
      : sql`select id as key from projects where organization = ${scope.organization}`,
};

/** The latest bindings of each workspace and project, for their state topic. */
export const publishedBindings: readonly PublishedResource[] = [ofWorkspaces, ofProjects];
