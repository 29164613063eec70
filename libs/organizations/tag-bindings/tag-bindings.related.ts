import type { Sql } from '#platform/kernel';
import type { Actor } from '#api/access';
import { defineRelated, type RelatedResources, type Resource } from '#api/json-api';
import { renderEffectiveTagBinding, renderTagBinding } from './tag-bindings.document.js';
import { selectProjectBindings, selectWorkspaceBindings, type BindingRow } from './tag-bindings.queries.js';

/**
 * Returns the own bindings of workspaces, for the `included` of documents of these workspaces. Callers that may read a
 * workspace may read its bindings.
 */
export const selectRelatedTagBindings = (workspaces: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectWorkspaceBindings(workspaces, 'own', actor), (rows) => rows.map(renderTagBinding));

export const selectRelatedEffectiveTagBindings = (workspaces: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectWorkspaceBindings(workspaces, 'effective', actor), (rows) =>
    deduplicateBindings(rows.map(renderEffectiveTagBinding)),
  );

/** Removes duplicates, because workspaces of one project inherit the same bindings. */
const deduplicateBindings = (resources: readonly Resource[]): readonly Resource[] => [
  ...new Map(resources.map((resource) => [resource.id, resource])).values(),
];

export const selectRelatedProjectTagBindings = (projects: Sql, actor: Actor): RelatedResources =>
  defineRelated<BindingRow>(selectProjectBindings(projects, actor), (rows) => rows.map(renderEffectiveTagBinding));
