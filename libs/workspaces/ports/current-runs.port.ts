import type { Actor } from '#access';
import type { Sql } from '#kernel';
import type { RelatedResources } from '#json-api';

/** What the neighbour who keeps the runs tells of them, as far as the caller may read it: here only their ids are known. */
export abstract class CurrentRuns {
  /** The runs, and what `includes` asks for besides: `plan`, `configuration_version` … */
  abstract related(runs: Sql, includes: ReadonlySet<string>, actor: Actor): readonly RelatedResources[];

  /** Configuration versions that runs are made of. */
  abstract relatedConfigurations(ids: Sql, actor: Actor): RelatedResources;
}
