import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { conflict, notFound } from '#platform/kernel';
import { requireAddressOfLink, type Actor } from '#api/access';
import { MIB, limitUpload } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { parseNewStateVersion, type NewStateVersion } from '../state-versions/state-versions.body.js';
import {
  requireStateCreation,
  requireRunOfWorkspace,
  loadRollbackSource,
  findStateUploadTarget,
  requireCreatorAccess,
  type StateVersionRow,
} from '../state-versions/state-versions.queries.js';
import { InlineStateLimit } from './inline-state.limit.js';
import { StateVersionCreator } from './state-versions.creator.js';
import { StateFiles, type FileKind } from '../files/state.files.js';
import { StateReaders } from '../reading/state-reader.threads.js';
import { StateUploads } from './state.uploads.js';

/** Maximum size of one upload in bytes. A state is read into memory; its JSON form is only stored, and longer. */
export const MAX_STATE_BYTES = 256 * MIB;
const UPLOAD_LIMIT: Readonly<Record<FileKind, number>> = { state: MAX_STATE_BYTES, 'json-state': 1024 * MIB };

/**
 * Receives state files, and sends the command that records each of them to the workspace, whose aggregate contains the
 * state versions.
 */
@Injectable()
export class StateVersionReceiver {
  /** Parsed inputs by body. A request runs again if the caller's access has changed, but its body arrives only once. */
  private readonly inputs = new WeakMap<Readable, NewStateVersion>();

  constructor(
    private readonly database: Database,
    private readonly creator: StateVersionCreator,
    private readonly files: StateFiles,
    private readonly readers: StateReaders,
    private readonly limit: InlineStateLimit,
    private readonly uploads: StateUploads,
  ) {}

  /**
   * Creates a state version from a request. Resolves to the new version, or to the version that the request repeats.
   * `announced` is the size of the body in bytes, or null if the headers do not declare it.
   */
  async create(workspace: string, body: Readable, announced: number | null, actor: Actor): Promise<StateVersionRow> {
    // Checks the permission before any file is read or stored.
    const organization = await requireStateCreation(this.database, actor, workspace);
    const input = this.inputs.get(body) ?? (await this.read(organization, body, announced));
    if (input.run !== null) await requireRunOfWorkspace(this.database, workspace, input.run);
    return this.creator.create(workspace, { ...input, rollbackOf: null }, actor);
  }

  private async read(organization: string, body: Readable, announced: number | null): Promise<NewStateVersion> {
    const bytes = await this.limit.bytesOf(body, announced);
    const input = parseNewStateVersion(await this.readers.readCreation(organization, bytes, this.limit.fileBytes));
    this.inputs.set(body, input);
    return input;
  }

  /** Creates a version with the state of an earlier version and the next serial. */
  async rollBack(workspace: string, stateVersion: string, actor: Actor): Promise<StateVersionRow> {
    const { organization, serial, lineage } = await loadRollbackSource(this.database, actor, workspace, stateVersion);
    const size = await this.files.size(stateVersion, 'state');
    const load = (): Promise<Uint8Array | null> => this.files.bytes(stateVersion);
    const state = size === null ? null : await this.readers.renumber(organization, size, load, serial);
    if (!state) throw conflict('The data of that state version has just been deleted');
    const { md5 } = state;
    // The documented JSON format contains no serial, so the file stays the same.
    const jsonState = await this.files.content(stateVersion, 'json-state');
    const input = { serial, md5, lineage, force: false, run: null, rollbackOf: stateVersion, state, jsonState };
    return this.creator.create(workspace, input, actor);
  }

  /** Receives a file for which a signed link was issued. `address`: the address of the client. */
  async receiveFile(
    { stateVersion, kind }: { readonly stateVersion: string; readonly kind: FileKind },
    content: Readable,
    address: string | null,
  ): Promise<void> {
    const upload = limitUpload(content, UPLOAD_LIMIT[kind]);
    try {
      const target = await findStateUploadTarget(this.database, stateVersion);
      if (!target) throw notFound();
      requireAddressOfLink(target.allowedRanges, address);
      // The access is checked again after the upload, which can take long.
      await requireCreatorAccess(this.database, target);
      if (kind === 'json-state') await this.uploads.storeJson(target, upload);
      else if (target.status === 'pending') await this.uploads.finalize(target, upload, null);
      else await this.uploads.requireStored(stateVersion, upload);
    } finally {
      // Discards the unread rest, because the next request on this connection follows it.
      content.resume();
    }
  }
}
