import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { Clock, sql } from '#kernel';
import { Database } from '#event-store';
import type { Resource } from '#json-api';
import { CurrentRuns } from '#workspaces/to-workspace';
import { configurationVersionResource } from './configuration-versions.document.js';
import { configurationVersionsAsJson, type ConfigurationVersionRow } from './configuration-versions.queries.js';
import { RunVariables } from './runs.variables.js';
import { runResource } from './runs.document.js';
import { includedWith, type Includes } from './runs.include.js';
import { runsByIds, type RunRow } from './runs.queries.js';

/** Runs as documents, with what lies beside their rows; workspaces show them as well. */
@Injectable()
export class RunRenderer extends CurrentRuns {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly variables: RunVariables,
  ) {
    super();
  }

  /** Values of their own variables only for who may read those of the workspace. */
  async resources(rows: readonly RunRow[], actor: Actor): Promise<Resource[]> {
    const told = rows.filter((row) => row.options.variables.length > 0 && may(actor, 'read-variables', row));
    const variables = await this.variables.of(told.map(({ id }) => id));
    const now = this.clock.now();
    return rows.map((row) => runResource(row, { actor, now, variables: variables.get(row.id) ?? [] }));
  }

  async resource(row: RunRow, actor: Actor): Promise<Resource> {
    const [resource] = await this.resources([row], actor);
    return resource as Resource;
  }

  related(rows: readonly RunRow[], includes: Includes, actor: Actor): Promise<Resource[]> {
    return includedWith(this.database, rows, includes, actor);
  }

  override async included(ids: readonly string[], related: Includes, actor: Actor): Promise<Resource[]> {
    const rows = await this.database.rows<RunRow>(runsByIds(ids, actor));
    return [...(await this.resources(rows, actor)), ...(await this.related(rows, related, actor))];
  }

  override async configurations(ids: readonly string[], actor: Actor): Promise<Resource[]> {
    const row = await this.database.row<{ versions: readonly ConfigurationVersionRow[] }>(
      sql`select ${configurationVersionsAsJson(ids, actor)} as versions`,
    );
    return (row?.versions ?? []).map((version) => configurationVersionResource(version));
  }
}
