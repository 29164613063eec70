import type { Actor } from '#access';
import type { Sql } from '#kernel';
import type { RelatedResources } from '#json-api';

/** What the neighbour who keeps the states tells of them, as far as the caller may read it: here only ids are known. */
export abstract class CurrentStates {
  abstract related(stateVersions: Sql, actor: Actor): RelatedResources;

  /** Their outputs, as workspaces show them: without values that are sensitive. */
  abstract relatedOutputs(stateVersions: Sql, actor: Actor): RelatedResources;
}
