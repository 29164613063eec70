import type { Actor } from '#access';
import type { Sql } from '#kernel';
import type { RelatedResources } from '#json-api';

/** A port to the module of variables, for documents of workspaces: this module has only the ids. */
export abstract class WorkspaceVariables {
  /** Returns the variables of workspaces whose variables the caller may read. */
  abstract related(workspaces: Sql, actor: Actor): RelatedResources;
}
