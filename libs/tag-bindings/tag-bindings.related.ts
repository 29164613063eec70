import type { Sql } from '#kernel';
import type { Actor } from '#access';
import { related, type Related, type Resource } from '#json-api';
import { effectiveTagBindingResource, tagBindingResource } from './tag-bindings.document.js';
import { bindingsOfProjects, bindingsOfWorkspaces, type BindingRow } from './tag-bindings.queries.js';

/** Bindings for the documents of the workspaces that have them: who may read those may read these. */
export const relatedTagBindings = (workspaces: Sql, actor: Actor): Related =>
  related<BindingRow>(bindingsOfWorkspaces(workspaces, 'own', actor), (rows) => rows.map(tagBindingResource));

export const relatedEffectiveTagBindings = (workspaces: Sql, actor: Actor): Related =>
  related<BindingRow>(bindingsOfWorkspaces(workspaces, 'effective', actor), (rows) =>
    eachOnce(rows.map(effectiveTagBindingResource)),
  );

/** Workspaces of one project inherit the same bindings. */
const eachOnce = (resources: readonly Resource[]): readonly Resource[] => [
  ...new Map(resources.map((resource) => [resource.id, resource])).values(),
];

export const relatedProjectTagBindings = (projects: Sql, actor: Actor): Related =>
  related<BindingRow>(bindingsOfProjects(projects, actor), (rows) => rows.map(effectiveTagBindingResource));
