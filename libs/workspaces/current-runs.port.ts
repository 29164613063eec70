import type { Actor } from '#access';
import type { Resource } from '#json-api';

/** What the neighbour who keeps the runs tells of them: here only their ids are known. */
export abstract class CurrentRuns {
  /** The runs, and what `related` asks for besides: `plan`, `configuration_version` … */
  abstract included(runs: readonly string[], related: ReadonlySet<string>, actor: Actor): Promise<readonly Resource[]>;

  /** Configuration versions that runs are made of. */
  abstract configurations(ids: readonly string[], actor: Actor): Promise<readonly Resource[]>;
}
