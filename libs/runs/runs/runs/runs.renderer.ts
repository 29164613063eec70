import { Injectable } from '@nestjs/common';
import { can, type Actor } from '#api/access';
import { selectRelatedUsers } from '#identity/people';
import { Clock, sql, type Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources, type Resource } from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { RunLogLinks } from './run-logs.links.js';
import { RunVariables } from './runs.variables.js';
import { renderRun } from './runs.document.js';
import {
  includesCommits,
  includesConfigurations,
  renderPhases,
  selectRelatedConfigurations,
  type RunIncludes,
} from './runs.include.js';
import { isOpen, selectRunsByIds, type RunRow } from './runs.queries.js';

/** Renders runs with the resources beside their rows. Other modules use it too. */
@Injectable()
export class RunRenderer {
  constructor(
    private readonly clock: Clock,
    private readonly variables: RunVariables,
    private readonly reads: ReadRecorder,
    private readonly logs: RunLogLinks,
  ) {}

  /** Shows values of variables only to callers that may read the variables of the workspace. */
  resource(row: RunRow, actor: Actor): Resource {
    const variables = can(actor, 'read-variables', row) ? this.variables.of(row) : [];
    return renderRun(row, { actor, now: this.clock.now(), variables });
  }

  related(ids: Sql, includes: RunIncludes, actor: Actor): RelatedResources[] {
    // Without the cast Postgres takes it for a list of rows and not for an array.
    const selectIdsOfRuns = (by: string): Sql =>
      sql`(select array_agg(${sql.raw(by)}) from runs r where r.id = any (${ids}))::text[]`;
    return [
      defineRelated<RunRow>(selectRunsByIds(ids, actor), (rows) => {
        const readableRuns = rows.filter((row) => can(actor, 'read-runs', row));
        return [
          ...readableRuns.map((row) => this.resource(row, actor)),
          ...renderPhases(readableRuns, includes, this.logs.urlsFor(actor)),
        ];
      }),
      ...(includes.has('created_by') ? [selectRelatedUsers(selectIdsOfRuns(`r.created_by ->> 'id'`), actor)] : []),
      ...(includesConfigurations(includes)
        ? [
            selectRelatedConfigurations(
              selectIdsOfRuns('r.configuration_version'),
              { actor, reads: this.reads },
              includesCommits(includes),
            ),
          ]
        : []),
    ];
  }

  relatedConfigurations(ids: Sql, actor: Actor): RelatedResources {
    return selectRelatedConfigurations(ids, { actor, reads: this.reads }, false);
  }

  countUnfinished(version: string): Sql {
    return sql`(select count(*) from runs r where ${isOpen('r')} and r.options ->> 'terraformVersion' = ${version})`;
  }
}
