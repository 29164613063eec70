import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { Refused, type Sql } from '#kernel';
import { related, type Related, type Resource } from '#json-api';
import { CurrentStates } from '#workspaces/to-workspace';
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
    return related<StateVersionRow>(stateVersionsByIds(ids, actor), (rows) => {
      const seen = rows.filter((row) => may(actor, 'read-state', row));
      return Promise.all(seen.map((row) => this.resource(row, actor)));
    });
  }

  override relatedOutputs(ids: Sql, actor: Actor): Related {
    return related<StateVersionRow>(stateVersionsByIds(ids, actor), async (rows) => {
      const included: Resource[] = [];
      // One file after the other, for each is read as a whole.
      for (const row of rows.filter((found) => may(actor, 'read-state-outputs', found))) {
        const values = await this.openValues(row);
        included.push(...row.outputs.map((output) => workspaceOutputResource(output, values.get(output.name) ?? null)));
      }
      return included;
    });
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
