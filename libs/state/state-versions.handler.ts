import { Readable } from 'node:stream';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { badRequest, Ids, notFound, Refused } from '#kernel';
import type { Actor } from '#access';
import { Database } from '#event-store';
import { holderOf, ToWorkspace } from '#workspaces/to-workspace';
import type { NewStateVersion } from './state-versions.body.js';
import { createdOrRepeated, demandOnState, uploadTarget, type StateVersionRow } from './state-versions.queries.js';
import { StateFiles, type FileKind } from './state.files.js';
import { isCertain, StateUploads } from './state.uploads.js';

const MIB = 1024 * 1024;

/** Most that one upload may be. A state is parsed as a whole; its JSON form is only stored, and longer. */
const UPLOAD_LIMIT: Readonly<Record<FileKind, number>> = { state: 256 * MIB, 'json-state': 1024 * MIB };

/** Resolves to the version made, or to the one that this repeats. */
export class AddStateVersion extends Command<StateVersionRow> {
  constructor(
    readonly workspace: string,
    readonly input: NewStateVersion,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** What comes by a signed link. */
export class ReceiveStateFile extends Command<void> {
  constructor(
    readonly stateVersion: string,
    readonly kind: FileKind,
    readonly content: Readable,
  ) {
    super();
  }
}

@CommandHandler(AddStateVersion)
export class AddStateVersionHandler implements ICommandHandler<AddStateVersion> {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly uploads: StateUploads,
    private readonly ids: Ids,
  ) {}

  async execute({ workspace, input, actor }: AddStateVersion): Promise<StateVersionRow> {
    // Nobody's file is looked into or stored before it is known that they may.
    await demandOnState(this.database, actor, 'create-state', workspace);
    const id = this.ids.next('sv');
    await this.create(id, workspace, input, actor);
    const made = await createdOrRepeated(this.database, actor, workspace, id, input);
    if (!made) throw notFound();
    return made.id === id ? made : this.repeat(made, id, input, actor);
  }

  private async create(id: string, workspace: string, input: NewStateVersion, actor: Actor): Promise<void> {
    const { serial, lineage, md5, run, force, state, jsonState } = input;
    const facts = state && this.uploads.factsOf(state);
    const data = { id, serial, lineage, md5, createdBy: holderOf(actor), run, force, facts };
    if (state) await this.files.put(id, 'state', state);
    if (jsonState) await this.files.put(id, 'json-state', jsonState);
    try {
      await this.bus.execute(new ToWorkspace({ id: workspace }, { type: 'CreateStateVersion', data }, actor));
    } catch (error) {
      if (isCertain(error)) await this.files.remove(id);
      throw error;
    }
  }

  /** The files came under an id that no version has: what the first version lacks of them is stored under its own. */
  private async repeat(
    first: StateVersionRow,
    id: string,
    { state, jsonState, ...input }: NewStateVersion,
    actor: Actor,
  ): Promise<StateVersionRow> {
    await this.files.remove(id);
    if (jsonState) await this.files.put(first.id, 'json-state', jsonState);
    if (!state || first.status === 'finalized') return first;
    await this.uploads.finalize(first, Readable.from([state]), actor);
    return (await createdOrRepeated(this.database, actor, first.workspace, first.id, input)) ?? first;
  }
}

@CommandHandler(ReceiveStateFile)
export class ReceiveStateFileHandler implements ICommandHandler<ReceiveStateFile> {
  constructor(
    private readonly database: Database,
    private readonly uploads: StateUploads,
  ) {}

  async execute({ stateVersion, kind, content }: ReceiveStateFile): Promise<void> {
    const upload = received(content, UPLOAD_LIMIT[kind]);
    try {
      const target = await uploadTarget(this.database, stateVersion);
      if (!target || target.status === 'discarded') throw notFound();
      if (kind === 'json-state') await this.uploads.storeJson(stateVersion, upload);
      else if (target.status === 'pending') await this.uploads.finalize(target, upload, null);
      else await this.uploads.demandStored(stateVersion, upload);
    } finally {
      // Whatever was not read: the next request on this connection comes after it.
      content.resume();
    }
  }
}

/** What arrives over the line, no more of it than allowed. */
const received = async function* (content: Readable, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    // The connection is left open, so that a refusal can still be told.
    for await (const piece of content.iterator({ destroyOnReturn: false })) {
      size += (piece as Buffer).length;
      if (size > limit) throw new Refused('too-large', [{ detail: `The upload is larger than ${limit / MIB} MiB` }]);
      yield piece as Buffer;
    }
  } catch (error) {
    throw error instanceof Refused ? error : badRequest('The upload was cut short');
  }
};
