import type { Actor } from '#access';
import type { Resource } from '#json-api';

/** What the neighbour who keeps the state versions tells of them: here only their ids are known. */
export abstract class CurrentStates {
  abstract included(stateVersions: readonly string[], actor: Actor): Promise<readonly Resource[]>;
}
