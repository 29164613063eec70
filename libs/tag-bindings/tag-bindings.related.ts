import type { Sql } from '#kernel';
import type { Actor } from '#access';
import { defineRelated, type RelatedResources, type Resource } from '#json-api';
import { renderEffectiveTagBinding, renderTagBinding } from './tag-bindings.document.js';
import { selectProjectBindings, selectWorkspaceBindings, type BindingRow } from './tag-bindings.queries.js';

/** Bindings for the documents of the workspaces that have them: who may read those may read these. */
export const selectRelatedTagBindings = (workspaces: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectWorkspaceBindings(workspaces, 'own', actor), (rows) => rows.map(renderTagBinding));

export const selectRelatedEffectiveTagBindings = (workspaces: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectWorkspaceBindings(workspaces, 'effective', actor), (rows) =>
    deduplicateBindings(rows.map(renderEffectiveTagBinding)),
  );

/** Workspaces of one project inherit the same bindings. */
const deduplicateBindings = (resources: readonly Resource[]): readonly Resource[] => [
  ...new Map(resources.map((resource) => [resource.id, resource])).values(),
];

export const selectRelatedProjectTagBindings = (projects: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectProjectBindings(projects, actor), (rows) => rows.map(renderEffectiveTagBinding));
