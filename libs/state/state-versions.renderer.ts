import { Injectable } from '@nestjs/common';
import { may, type Actor } from '#access';
import { Refused, type Sql } from '#kernel';
import { related, type Related, type Resource } from '#json-api';
import { Reads } from '#reads';
import { CurrentStates } from '#workspaces/to-workspace';
import { byName } from './state-extract.js';
import { shownState, type Shown, type StateRead } from './reads.events.js';
import { stateVersionResource, workspaceOutputResource } from './state-versions.document.js';
import { INCLUDED_VALUES } from './state-versions.include.js';
import { stateVersionsByIds, type OutputRow, type StateVersionRow } from './state-versions.queries.js';
import { StateExtracts, ValueBudget } from './state.extracts.js';
import { StateFiles } from './state.files.js';
import { StateLinks } from './state.links.js';

const hasLinks = ({ status }: StateVersionRow): boolean => status === 'pending' || status === 'finalized';

/** State versions as documents, with what lies beside their rows; workspaces show them as well. */
@Injectable()
export class StateVersionRenderer extends CurrentStates {
  constructor(
    private readonly extracts: StateExtracts,
    private readonly files: StateFiles,
    private readonly links: StateLinks,
    private readonly reads: Reads,
  ) {
    super();
  }

  async resource(row: StateVersionRow, actor: Actor): Promise<Resource> {
    return stateVersionResource(row, {
      links: this.links,
      // One request to the store for each row of a page, and none for rows that show no link.
      hasJson: hasLinks(row) && (await this.files.has(row.id, 'json-state')),
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
      const budget = new ValueBudget(INCLUDED_VALUES);
      for (const row of seen) {
        const outputs = row.outputs.toSorted(byName);
        const values = await this.openValues(row, outputs, budget);
        const shown = outputs.filter(({ name, sensitive }) => sensitive || values?.has(name) !== false);
        included.push(...shown.map((output) => workspaceOutputResource(output, values?.get(output.name) ?? null)));
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

  /** Values of outputs that are not sensitive. Null if the file is gone: the rest of the document can still be shown. */
  private async openValues(
    row: StateVersionRow,
    outputs: readonly OutputRow[],
    budget: ValueBudget,
  ): Promise<ReadonlyMap<string, unknown> | null> {
    const open = outputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name);
    if (open.length === 0) return new Map();
    try {
      return await (await this.extracts.outputs(row)).parsed(open, budget);
    } catch (error) {
      if (error instanceof Refused && error.kind === 'not-found') return null;
      throw error;
    }
  }
}
