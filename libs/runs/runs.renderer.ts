import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { relatedUsers } from '#people';
import { Clock, sql, type Sql } from '#kernel';
import { related, type Related, type Resource } from '#json-api';
import { Reads } from '#reads';
import { CurrentRuns } from '#workspaces';
import { RunVariables } from './runs.variables.js';
import { runResource } from './runs.document.js';
import { asksForConfigurations, phasesOf, relatedConfigurations, type Includes } from './runs.include.js';
import { runsByIds, type RunRow } from './runs.queries.js';

/** Runs as documents, with what lies beside their rows; neighbours show them as well. */
@Injectable()
export class RunRenderer extends CurrentRuns {
  constructor(
    private readonly clock: Clock,
    private readonly variables: RunVariables,
    private readonly reads: Reads,
  ) {
    super();
  }

  /** Values of its own variables only for who may read those of the workspace. */
  resource(row: RunRow, actor: Actor): Resource {
    const variables = may(actor, 'read-variables', row) ? this.variables.of(row) : [];
    return runResource(row, { actor, now: this.clock.now(), variables });
  }

  override related(ids: Sql, includes: Includes, actor: Actor): Related[] {
    // Without the cast Postgres takes it for a list of rows and not for an array.
    const named = (by: string): Sql =>
      sql`(select array_agg(${sql.raw(by)}) from runs r where r.id = any (${ids}))::text[]`;
    return [
      related<RunRow>(runsByIds(ids, actor), (rows) => {
        const seen = rows.filter((row) => may(actor, 'read-runs', row));
        return [...seen.map((row) => this.resource(row, actor)), ...phasesOf(seen, includes)];
      }),
      ...(includes.has('created_by') ? [relatedUsers(named(`r.created_by ->> 'id'`), actor)] : []),
      ...(asksForConfigurations(includes) ? [this.relatedConfigurations(named('r.configuration_version'), actor)] : []),
    ];
  }

  override relatedConfigurations(ids: Sql, actor: Actor): Related {
    return relatedConfigurations(ids, { actor, reads: this.reads });
  }
}
