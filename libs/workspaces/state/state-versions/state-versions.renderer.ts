import { Injectable } from '@nestjs/common';
import { can, type Actor } from '#api/access';
import { Refusal, type RefusalKind, type Sql } from '#platform/kernel';
import { defineRelated, type RelatedResources, type Resource } from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { CurrentStates } from '#workspaces/workspaces';
import { compareByName, type BlocksIndex } from '../state-file/state-extract.js';
import { createStateReadEvent, type ShownStateContent, type StateRead } from '../reads.events.js';
import { renderStateVersion, renderWorkspaceOutput } from './state-versions.document.js';
import { selectStateVersionsByIds, type OutputRow, type StateVersionRow } from './state-versions.queries.js';
import { StateExtracts, ValueBudget } from '../files/state.extracts.js';
import { StateFiles } from '../files/state.files.js';
import { StateLinks } from '../files/state.links.js';

const hasLinks = ({ status }: StateVersionRow): boolean => status === 'pending' || status === 'finalized';

/** Returns null if the read is refused with one of these kinds, because the rest of the document can still be shown. */
const unlessRefused = async <T>(read: () => Promise<T>, ...kinds: readonly RefusalKind[]): Promise<T | null> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && kinds.includes(error.kind)) return null;
    throw error;
  }
};

/** Renders state versions with the data from their files. Workspaces include them through this class. */
@Injectable()
export class StateVersionRenderer extends CurrentStates {
  constructor(
    private readonly extracts: StateExtracts,
    private readonly files: StateFiles,
    private readonly links: StateLinks,
    private readonly reads: ReadRecorder,
  ) {
    super();
  }

  resource(row: StateVersionRow, actor: Actor): Promise<Resource> {
    return this.render(row, actor, () =>
      // An old version is extracted now. If too many other extractions wait, the document is returned without the list.
      unlessRefused(() => this.extracts.blocks(row), 'not-found', 'too-many', 'unavailable'),
    );
  }

  /** Renders a version for a page of versions, which contains only short lists of blocks. */
  resourceOnPage(row: StateVersionRow, actor: Actor): Promise<Resource> {
    return this.render(row, actor, () => this.extracts.blocksOnPage(row));
  }

  override related(ids: Sql, actor: Actor): RelatedResources {
    return defineRelated<StateVersionRow>(selectStateVersionsByIds(ids, actor), async (rows) => {
      const visible = rows.filter((row) => can(actor, 'read-state', row));
      await this.record(visible, 'document', actor);
      return Promise.all(visible.map((row) => this.resourceOnPage(row, actor)));
    });
  }

  override relatedOutputs(ids: Sql, actor: Actor): RelatedResources {
    return defineRelated<StateVersionRow>(selectStateVersionsByIds(ids, actor), async (rows) => {
      const included: Resource[] = [];
      const visible = rows.filter((row) => can(actor, 'read-state-outputs', row));
      const budget = new ValueBudget();
      for (const row of visible) {
        const outputs = row.outputs.toSorted(compareByName);
        const values = await this.openValues(row, outputs, budget);
        included.push(
          ...outputs.map((output) =>
            renderWorkspaceOutput(output, values && !output.sensitive ? values.get(output.name) : null),
          ),
        );
      }
      await this.record(visible, 'outputs', actor);
      return included;
    });
  }

  /**
   * Records that state versions were shown. Reading a workspace is not recorded, but reading its included states is.
   * All rows belong to one organization.
   */
  record(rows: readonly StateVersionRow[], content: ShownStateContent, actor: Actor): Promise<void> {
    const organization = rows[0]?.organization ?? null;
    return this.reads.record<StateRead>(actor, organization, ...rows.map((row) => createStateReadEvent(row, content)));
  }

  /** Takes at most two requests to the store for each row of a page, and none for rows without data. */
  private async render(row: StateVersionRow, actor: Actor, readBlocks: () => Promise<BlocksIndex>): Promise<Resource> {
    const [hasJson, blocks] = await Promise.all([
      hasLinks(row) && this.files.has(row.id, 'json-state'),
      row.status === 'finalized' ? readBlocks() : null,
    ]);
    return renderStateVersion(row, {
      links: this.links,
      actor,
      hasJson,
      blocks,
      mayUpload: can(actor, 'create-state', row),
    });
  }

  /** Returns values of outputs that are not sensitive; null if the file no longer exists. */
  private async openValues(
    row: StateVersionRow,
    outputs: readonly OutputRow[],
    budget: ValueBudget,
  ): Promise<ReadonlyMap<string, unknown> | null> {
    const open = outputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name);
    if (open.length === 0) return new Map();
    return unlessRefused(async () => (await this.extracts.outputs(row)).parsed(open, budget), 'not-found');
  }
}
