import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Ids, isDefiniteFailure, notFound } from '#platform/kernel';
import { toActingPrincipal, type Actor } from '#api/access';
import type { BlobContent } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { ChangeWorkspace } from '#workspaces/workspaces';
import type { NewStateVersion } from '../state-versions/state-versions.body.js';
import { findCreatedOrRepeated, type StateVersionRow } from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';
import { StateFiles } from '../files/state.files.js';
import type { ParsedState } from '../reading/state.parser.js';
import { StateUploads } from './state.uploads.js';

type StateVersionInput = Omit<NewStateVersion, 'jsonState' | 'state'> & {
  readonly rollbackOf: string | null;
  readonly state: { readonly bytes: Uint8Array; readonly reading: ParsedState } | null;
  readonly jsonState: BlobContent | null;
};

/** Creates a version with the files in the request: it stores the files first and then appends the event. */
@Injectable()
export class StateVersionCreator {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly extracts: StateExtracts,
    private readonly uploads: StateUploads,
    private readonly ids: Ids,
  ) {}

  /** Returns the created version, or the existing one if the request repeats it. */
  async create(workspace: string, input: StateVersionInput, actor: Actor): Promise<StateVersionRow> {
    const id = this.ids.next('sv');
    await this.appendCreation(id, workspace, input, actor);
    const version = await findCreatedOrRepeated(this.database, actor, workspace, id, input);
    if (!version) throw notFound();
    return version.id === id ? version : this.repeat(version, id, input, actor);
  }

  private async appendCreation(id: string, workspace: string, input: StateVersionInput, actor: Actor): Promise<void> {
    const { serial, lineage, md5, run, rollbackOf, force, state } = input;
    const facts = state && this.uploads.factsOf(state.reading);
    const createdBy = toActingPrincipal(actor);
    const creatingRun = run ?? (createdBy.type === 'runs' ? createdBy.id : null);
    const data = {
      id,
      serial,
      lineage,
      md5,
      createdBy,
      run: creatingRun,
      rollbackOf,
      force,
      facts,
      isImported: actor.origin !== undefined,
    };
    await this.store(id, input);
    try {
      await this.bus.execute(new ChangeWorkspace('CreateStateVersion', { target: { id: workspace }, data, actor }));
    } catch (error) {
      if (isDefiniteFailure(error)) await this.files.remove(id);
      throw error;
    }
  }

  private async store(id: string, { state, jsonState }: StateVersionInput): Promise<void> {
    try {
      if (state) {
        await this.files.put(id, 'state', state.bytes);
        await this.extracts.store(id, state.reading);
      }
      if (jsonState) await this.files.put(id, 'json-state', jsonState);
    } catch (error) {
      // No event has recorded these files, and none will.
      await this.files.remove(id);
      throw error;
    }
  }

  /**
   * The files were stored under an id that no version has. Those that the existing version lacks are stored under its
   * id.
   */
  private async repeat(
    first: StateVersionRow,
    id: string,
    { state, ...input }: StateVersionInput,
    actor: Actor,
  ): Promise<StateVersionRow> {
    const jsonState = await this.files.content(id, 'json-state');
    if (jsonState) await this.files.put(first.id, 'json-state', jsonState);
    await this.files.remove(id);
    if (!state || first.status === 'finalized') return first;
    await this.uploads.finalize(first, Readable.from([state.bytes]), actor);
    return (await findCreatedOrRepeated(this.database, actor, first.workspace, first.id, input)) ?? first;
  }
}
