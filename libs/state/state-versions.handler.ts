import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conflict, notFound } from '#kernel';
import type { Actor } from '#access';
import { MIB, received } from '#blob-store';
import { Database } from '#event-store';
import { withSerial } from './state-file.js';
import type { NewStateVersion } from './state-versions.body.js';
import { demandCreation, rollbackSource, uploadTarget, type StateVersionRow } from './state-versions.queries.js';
import { StateBirths } from './state.births.js';
import { StateFiles, type FileKind } from './state.files.js';
import { StateUploads } from './state.uploads.js';

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

/** Makes a version that has the state of an earlier one, under the next serial. */
export class RollBackState extends Command<StateVersionRow> {
  constructor(
    readonly workspace: string,
    readonly stateVersion: string,
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
    private readonly database: Database,
    private readonly births: StateBirths,
  ) {}

  async execute({ workspace, input, actor }: AddStateVersion): Promise<StateVersionRow> {
    // Nobody's file is looked into or stored before it is known that they may.
    await demandCreation(this.database, actor, workspace, input.run);
    return this.births.create(workspace, { ...input, rollbackOf: null }, actor);
  }
}

@CommandHandler(RollBackState)
export class RollBackStateHandler implements ICommandHandler<RollBackState> {
  constructor(
    private readonly database: Database,
    private readonly births: StateBirths,
    private readonly files: StateFiles,
  ) {}

  async execute({ workspace, stateVersion, actor }: RollBackState): Promise<StateVersionRow> {
    const { serial, lineage } = await rollbackSource(this.database, actor, workspace, stateVersion);
    const bytes = await this.files.bytes(stateVersion);
    if (!bytes) throw conflict('The data of that state version has just been deleted');
    const state = withSerial(bytes, serial);
    const md5 = createHash('md5').update(state).digest('hex');
    // The documented JSON format tells no serial: it is the same file.
    const jsonState = await this.files.content(stateVersion, 'json-state');
    const input = { serial, md5, lineage, force: false, run: null, rollbackOf: stateVersion, state, jsonState };
    return this.births.create(workspace, input, actor);
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
      if (!target) throw notFound();
      if (kind === 'json-state') await this.uploads.storeJson(stateVersion, upload);
      else if (target.status === 'pending') await this.uploads.finalize(target, upload, null);
      else await this.uploads.demandStored(stateVersion, upload);
    } finally {
      // Whatever was not read: the next request on this connection comes after it.
      content.resume();
    }
  }
}
