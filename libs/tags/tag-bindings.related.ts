import type { Sql } from '#kernel';
import { related, type Related, type Resource } from '#json-api';
import { effectiveTagBindingResource, tagBindingResource } from './tag-bindings.document.js';
import { bindingsOfProjects, bindingsOfWorkspaces, type BindingRow } from './tag-bindings.queries.js';

/** Bindings for the documents of the workspaces that have them: who may read those may read these. */
export const relatedTagBindings = (workspaces: Sql): Related =>
  related<BindingRow>(bindingsOfWorkspaces(workspaces, 'own'), (rows) => rows.map(tagBindingResource));

export const relatedEffectiveTagBindings = (workspaces: Sql): Related =>
  related<BindingRow>(bindingsOfWorkspaces(workspaces, 'effective'), (rows) =>
    eachOnce(rows.map(effectiveTagBindingResource)),
  );

/** Workspaces of one project inherit the same bindings. */
const eachOnce = (resources: readonly Resource[]): readonly Resource[] => [
  ...new Map(resources.map((resource) => [resource.id, resource])).values(),
];

export const relatedProjectTagBindings = (projects: Sql): Related =>
  related<BindingRow>(bindingsOfProjects(projects), (rows) => rows.map(effectiveTagBindingResource));
