import type { Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import type { RelatedResources } from '#api/json-api';

/** Port for the workspaces that use an agent pool, which the workspaces module renders. */
export abstract class AgentPoolWorkspaces {
  /** Returns the workspaces with these ids (an expression of type text[]) that the caller may read. */
  abstract related(ids: Sql, actor: Actor): RelatedResources;
}
