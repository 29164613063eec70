import type { Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import type { RelatedResources } from '#api/json-api';

/**
 * A port to the module of states, for documents of workspaces: this module has only the ids. It returns what the caller
 * may read.
 */
export abstract class CurrentStates {
  abstract related(stateVersions: Sql, actor: Actor): RelatedResources;

  /** Returns outputs as workspaces include them: without sensitive values. */
  abstract relatedOutputs(stateVersions: Sql, actor: Actor): RelatedResources;
}
