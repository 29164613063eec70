import type { Readable } from 'node:stream';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conflict, notFound } from '#kernel';
import type { Actor } from '#access';
import { MIB, limitUpload } from '#blob-store';
import { Database } from '#postgres';
import { parseNewStateVersion, type NewStateVersion } from './state-versions.body.js';
import {
  requireStateCreation,
  requireRunOfWorkspace,
  loadRollbackSource,
  findStateUploadTarget,
  type StateVersionRow,
} from './state-versions.queries.js';
import { InlineStateLimit } from '../uploads/inline-state.limit.js';
import { StateVersionCreator } from '../uploads/state-versions.creator.js';
import { StateFiles, type FileKind } from '../files/state.files.js';
import { StateReaders } from '../reading/state-reader.threads.js';
import { StateUploads } from '../uploads/state.uploads.js';

/** Maximum size of one upload in bytes. A state is read into memory; its JSON form is only stored, and longer. */
const UPLOAD_LIMIT: Readonly<Record<FileKind, number>> = { state: 256 * MIB, 'json-state': 1024 * MIB };

/** Returns the created version, or the existing one if the request repeats it. */
export class AddStateVersion extends Command<StateVersionRow> {
  constructor(
    readonly workspace: string,
    /** Body of the request as a stream. It is not read before the caller's permission is known. */
    readonly body: Readable,
    /** Declared size of the body in bytes; null if the headers do not contain it. */
    readonly announced: number | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Creates a version with the state of an earlier one and the next serial. */
export class RollBackState extends Command<StateVersionRow> {
  constructor(
    readonly workspace: string,
    readonly stateVersion: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

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
  /** Parsed inputs by body. A request runs again if the caller's access has changed, but its body arrives only once. */
  private readonly inputs = new WeakMap<Readable, NewStateVersion>();

  constructor(
    private readonly database: Database,
    private readonly stateVersions: StateVersionCreator,
    private readonly readers: StateReaders,
    private readonly limit: InlineStateLimit,
  ) {}

  async execute({ workspace, body, announced, actor }: AddStateVersion): Promise<StateVersionRow> {
    // Checks the permission before any file is read or stored.
    const organization = await requireStateCreation(this.database, actor, workspace);
    const input = this.inputs.get(body) ?? (await this.read(organization, body, announced));
    if (input.run !== null) await requireRunOfWorkspace(this.database, workspace, input.run);
    return this.stateVersions.create(workspace, { ...input, rollbackOf: null }, actor);
  }

  private async read(organization: string, body: Readable, announced: number | null): Promise<NewStateVersion> {
    const bytes = await this.limit.bytesOf(body, announced);
    const input = parseNewStateVersion(await this.readers.readCreation(organization, bytes, this.limit.fileBytes));
    this.inputs.set(body, input);
    return input;
  }
}

@CommandHandler(RollBackState)
export class RollBackStateHandler implements ICommandHandler<RollBackState> {
  constructor(
    private readonly database: Database,
    private readonly stateVersions: StateVersionCreator,
    private readonly files: StateFiles,
    private readonly readers: StateReaders,
  ) {}

  async execute({ workspace, stateVersion, actor }: RollBackState): Promise<StateVersionRow> {
    const { organization, serial, lineage } = await loadRollbackSource(this.database, actor, workspace, stateVersion);
    const size = await this.files.size(stateVersion, 'state');
    const load = (): Promise<Uint8Array | null> => this.files.bytes(stateVersion);
    const state = size === null ? null : await this.readers.renumber(organization, size, load, serial);
    if (!state) throw conflict('The data of that state version has just been deleted');
    const { md5 } = state;
    // The documented JSON format contains no serial, so the file stays the same.
    const jsonState = await this.files.content(stateVersion, 'json-state');
    const input = { serial, md5, lineage, force: false, run: null, rollbackOf: stateVersion, state, jsonState };
    return this.stateVersions.create(workspace, input, actor);
  }
}

@CommandHandler(ReceiveStateFile)
export class ReceiveStateFileHandler implements ICommandHandler<ReceiveStateFile> {
  constructor(
    private readonly database: Database,
    private readonly uploads: StateUploads,
  ) {}

  async execute({ stateVersion, kind, content }: ReceiveStateFile): Promise<void> {
    const upload = limitUpload(content, UPLOAD_LIMIT[kind]);
    try {
      const target = await findStateUploadTarget(this.database, stateVersion);
      if (!target) throw notFound();
      if (kind === 'json-state') await this.uploads.storeJson(stateVersion, upload);
      else if (target.status === 'pending') await this.uploads.finalize(target, upload, null);
      else await this.uploads.requireStored(stateVersion, upload);
    } finally {
      // Discards the unread rest, because the next request on this connection follows it.
      content.resume();
    }
  }
}
