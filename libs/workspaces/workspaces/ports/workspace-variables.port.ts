import type { Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import type { RelatedResources } from '#api/json-api';

/** A port to the module of variables, for documents of workspaces: this module has only the ids. */
export abstract class WorkspaceVariables {
  /** Returns the variables of workspaces whose variables the caller may read. */
  abstract related(workspaces: Sql, actor: Actor): RelatedResources;
}
