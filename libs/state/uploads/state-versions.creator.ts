import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Ids, notFound } from '#kernel';
import { toActingPrincipal, type Actor } from '#access';
import type { BlobContent } from '#blob-store';
import { Database } from '#postgres';
import { ChangeWorkspace } from '#workspaces';
import type { NewStateVersion } from '../state-versions/state-versions.body.js';
import { findCreatedOrRepeated, type StateVersionRow } from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';
import { StateFiles } from '../files/state.files.js';
import type { ParsedState } from '../reading/state.parser.js';
import { isDefiniteFailure, StateUploads } from './state.uploads.js';

type StateVersionInput = Omit<NewStateVersion, 'jsonState' | 'state'> & {
  readonly rollbackOf: string | null;
  readonly state: { readonly bytes: Uint8Array; readonly reading: ParsedState } | null;
  readonly jsonState: BlobContent | null;
};

/** How a version comes into the world with the files that came along: those first, then its event. */
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

  /** Resolves to the version made, or to the one that this repeats. */
  async create(workspace: string, birth: StateVersionInput, actor: Actor): Promise<StateVersionRow> {
    const id = this.ids.next('sv');
    await this.appendCreation(id, workspace, birth, actor);
    const made = await findCreatedOrRepeated(this.database, actor, workspace, id, birth);
    if (!made) throw notFound();
    return made.id === id ? made : this.repeat(made, id, birth, actor);
  }

  private async appendCreation(id: string, workspace: string, birth: StateVersionInput, actor: Actor): Promise<void> {
    const { serial, lineage, md5, run, rollbackOf, force, state } = birth;
    const facts = state && this.uploads.factsOf(state.reading);
    const createdBy = toActingPrincipal(actor);
    const made = run ?? (createdBy.type === 'runs' ? createdBy.id : null);
    const data = { id, serial, lineage, md5, createdBy, run: made, rollbackOf, force, facts };
    await this.store(id, birth);
    try {
      await this.bus.execute(new ChangeWorkspace({ id: workspace }, { type: 'CreateStateVersion', data }, actor));
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
      // No event speaks of them yet, and none will.
      await this.files.remove(id);
      throw error;
    }
  }

  /** The files came under an id that no version has: what the first version lacks of them is stored under its own. */
  private async repeat(
    first: StateVersionRow,
    id: string,
    { state, ...birth }: StateVersionInput,
    actor: Actor,
  ): Promise<StateVersionRow> {
    const jsonState = await this.files.content(id, 'json-state');
    if (jsonState) await this.files.put(first.id, 'json-state', jsonState);
    await this.files.remove(id);
    if (!state || first.status === 'finalized') return first;
    await this.uploads.finalize(first, Readable.from([state.bytes]), actor);
    return (await findCreatedOrRepeated(this.database, actor, first.workspace, first.id, birth)) ?? first;
  }
}
