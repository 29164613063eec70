import type { Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import type { RelatedResources } from '#api/json-api';

/**
 * A port to the module of runs, for documents of workspaces: this module has only their ids. It returns what the caller
 * may read.
 */
export abstract class CurrentRuns {
  /** Returns the runs with the resources of `includes`: `plan`, `configuration_version` … */
  abstract related(runs: Sql, includes: ReadonlySet<string>, actor: Actor): readonly RelatedResources[];

  /** Returns the configuration versions that runs use. */
  abstract relatedConfigurations(ids: Sql, actor: Actor): RelatedResources;

  /** Returns results of health assessments. */
  abstract relatedAssessments(ids: Sql, actor: Actor): RelatedResources;

  /** Returns an expression for the number of runs with a version of the tool that have not ended. */
  abstract countUnfinished(version: string): Sql;
}
