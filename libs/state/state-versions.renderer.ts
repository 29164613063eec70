import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { Database } from '#event-store';
import type { Resource } from '#json-api';
import { CurrentStates } from '#workspaces/to-workspace';
import { stateVersionResource } from './state-versions.document.js';
import { stateVersionsByIds, type StateVersionRow } from './state-versions.queries.js';
import { StateFiles } from './state.files.js';
import { StateLinks } from './state.links.js';

/** State versions as documents, with what lies beside their rows; workspaces show them as well. */
@Injectable()
export class StateVersionRenderer extends CurrentStates {
  constructor(
    private readonly database: Database,
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

  override async included(ids: readonly string[], actor: Actor): Promise<readonly Resource[]> {
    const rows = await this.database.rows<StateVersionRow>(stateVersionsByIds(ids, actor));
    return Promise.all(rows.map((row) => this.resource(row, actor)));
  }
}
