import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { Refused, type Sql } from '#kernel';
import { related, type Related, type Resource } from '#json-api';
import { Reads } from '#reads';
import { CurrentStates } from '#workspaces/to-workspace';
import { shownState, type Shown, type StateRead } from './reads.events.js';
import { stateVersionResource, workspaceOutputResource } from './state-versions.document.js';
import { stateVersionsByIds, type StateVersionRow } from './state-versions.queries.js';
import { StateFiles } from './state.files.js';
import { StateLinks } from './state.links.js';

/** State versions as documents, with what lies beside their rows; workspaces show them as well. */
@Injectable()
export class StateVersionRenderer extends CurrentStates {
  constructor(
    private readonly files: StateFiles,
    private readonly links: StateLinks,
    private readonly reads: Reads,
  ) {
    super();
  }

  async resource(row: StateVersionRow, actor: Actor): Promise<Resource> {
    return stateVersionResource(row, {
      links: this.links,
      hasJson: await this.files.has(row.id, 'json-state'),
      mayUpload: may(actor, 'create-state', row),
    });
  }

  override related(ids: Sql, actor: Actor): Related {
    return related<StateVersionRow>(stateVersionsByIds(ids, actor), async (rows) => {
      const seen = rows.filter((row) => may(actor, 'read-state', row));
      await this.record(seen, 'document', actor);
      return Promise.all(seen.map((row) => this.resource(row, actor)));
    });
  }

  override relatedOutputs(ids: Sql, actor: Actor): Related {
    return related<StateVersionRow>(stateVersionsByIds(ids, actor), async (rows) => {
      const included: Resource[] = [];
      const seen = rows.filter((row) => may(actor, 'read-state-outputs', row));
      // One file after the other, for each is read as a whole.
      for (const row of seen) {
        const values = await this.openValues(row);
        included.push(...row.outputs.map((output) => workspaceOutputResource(output, values.get(output.name) ?? null)));
      }
      await this.record(seen, 'outputs', actor);
      return included;
    });
  }

  /** Reading a workspace is told nowhere; a state that it brings along is. All are of one organization. */
  record(rows: readonly StateVersionRow[], shown: Shown, actor: Actor): Promise<void> {
    const organization = rows[0]?.organization ?? null;
    return this.reads.record<StateRead>(actor, organization, ...rows.map((row) => shownState(row, shown)));
  }

  /** None where all is sensitive; nor where the file has gone: what else is shown need not go with it. */
  private async openValues({ id, outputs }: StateVersionRow): Promise<ReadonlyMap<string, unknown>> {
    if (outputs.every(({ sensitive }) => sensitive)) return new Map();
    try {
      return await this.files.outputValues(id);
    } catch (error) {
      if (error instanceof Refused && error.kind === 'not-found') return new Map();
      throw error;
    }
  }
}
