import { createHash, type Hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { conflict, Ids, isDefiniteFailure, notFound, Refusal, unprocessable } from '#platform/kernel';
import type { Actor } from '#api/access';
import { computeDigest, hashWhileReading } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { ChangeWorkspace, type StateSummary } from '#workspaces/workspaces';
import {
  isNeverFinalizable,
  findStateUploadTarget,
  requireCreatorAccess,
  type StateUploadTarget,
} from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';
import { EXTRACT_KINDS, StateFiles, type FileKind } from '../files/state.files.js';
import { StateReaders } from '../reading/state-reader.threads.js';
import type { ParsedState } from '../reading/state.parser.js';
import { checkDeclaredContent } from './declared-content.js';

type FinalizedTarget = Omit<StateUploadTarget, 'status' | 'allowedRanges'>;

const createConcurrentUploadRefusal = (): Refusal =>
  conflict('Another upload of this state version has just been refused');

const createAlreadyUploadedRefusal = (): Refusal => conflict('This state version has been uploaded already');

/** Yields the content. Throws at the end if its MD5 is not the declared one, so that the file is not stored. */
const verifyMd5 = async function* (
  content: AsyncIterable<Uint8Array>,
  declared: string,
  sha256: Hash,
): AsyncGenerator<Uint8Array> {
  const md5 = createHash('md5');
  for await (const piece of hashWhileReading(content, sha256)) {
    md5.update(piece);
    yield piece;
  }
  if (md5.digest('hex') !== declared) {
    throw unprocessable('The MD5 of the upload is not the one that was declared for it', 'md5');
  }
};

/**
 * Keeps state files and log consistent even if a process is killed at any time.
 *
 * The file is stored first under the id of the version, then the extracted files, then the event is appended. So the
 * files of every finalized version exist. A process that is killed in between leaves a file without an event. The next
 * upload of the same version does not replace it, but compares the content and finalizes it. Files are written once, so
 * that a late upload cannot change an acknowledged file. Of two simultaneous uploads, one stores the file and both send
 * the command; the second command changes nothing, and it may be that of the upload that stored the file. Therefore a
 * refusal removes the file only if the version can never be finalized.
 */
@Injectable()
export class StateUploads {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly extracts: StateExtracts,
    private readonly readers: StateReaders,
    private readonly ids: Ids,
  ) {}

  /** Stores the file of a pending version and finalizes it. `actor` is null for an upload with a signed link. */
  async finalize(target: FinalizedTarget, content: AsyncIterable<Uint8Array>, actor: Actor | null): Promise<void> {
    const { id, workspace, md5 } = target;
    const sent = createHash('sha256');
    const stored = await this.files.put(id, 'state', verifyMd5(content, md5, sent));
    // Compares SHA-256 instead of MD5, because MD5 collisions can be constructed.
    if (!stored) await this.requireDigest(id, 'state', sent.digest());
    const reading = await this.readStoredState(target);
    await this.extracts.store(id, reading);
    const facts = this.factsOf(reading);
    try {
      if (!actor) await requireCreatorAccess(this.database, target);
      const data = { id, facts };
      await this.bus.execute(
        actor
          ? new ChangeWorkspace('FinalizeStateVersion', { target: { id: workspace }, data, actor })
          : new ChangeWorkspace('FinalizeUpload', { workspace, data }),
      );
    } catch (error) {
      if (isDefiniteFailure(error) && (await isNeverFinalizable(this.database, id)))
        await this.files.remove(id, ['state', ...EXTRACT_KINDS]);
      throw error;
    }
  }

  /**
   * Refuses content that differs from the stored state. A client that lost the response sends the same state again and
   * must succeed.
   */
  async requireStored(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.requireDigest(id, 'state', await computeDigest(content));
  }

  /** Stores the JSON form. No event records it. */
  async storeJson(target: StateUploadTarget, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { id } = target;
    const sent = createHash('sha256');
    if (!(await this.files.put(id, 'json-state', hashWhileReading(content, sent)))) {
      return this.requireDigest(id, 'json-state', sent.digest());
    }
    // The version may have been deleted during the upload, after its files were removed.
    try {
      if (!(await findStateUploadTarget(this.database, id))) throw notFound();
      await requireCreatorAccess(this.database, target);
    } catch (error) {
      await this.files.remove(id, ['json-state']);
      throw error;
    }
  }

  private async requireDigest(id: string, kind: FileKind, sent: Buffer): Promise<void> {
    const digest = await this.files.digest(id, kind);
    if (!digest && kind === 'state') throw createConcurrentUploadRefusal();
    if (!digest?.equals(sent)) throw createAlreadyUploadedRefusal();
  }

  /**
   * Reads the stored state. If it is not the declared state, the version ends as `errored` and its files are removed,
   * because no upload can complete it: the MD5 of the file is the declared one.
   */
  private async readStoredState(target: FinalizedTarget): Promise<ParsedState> {
    const { id, workspace, organization } = target;
    try {
      const size = await this.files.size(id, 'state');
      const reading =
        size === null ? null : await this.readers.readState(organization, size, () => this.files.bytes(id));
      // Another request has found that the file is not a state, and has removed it.
      if (!reading) throw createConcurrentUploadRefusal();
      checkDeclaredContent(target, { serial: reading.serial, lineage: reading.facts.lineage });
      return reading;
    } catch (error) {
      // After any other error, the next upload of the same file is finalized.
      if (error instanceof Refusal && error.kind === 'unprocessable') {
        await this.bus.execute(new ChangeWorkspace('FailUpload', { workspace, data: { id } }));
        // A simultaneous upload of the same file may have finalized the version, if only this reading took too long.
        if (await isNeverFinalizable(this.database, id)) await this.files.remove(id);
      }
      throw error;
    }
  }

  /** Returns the summary for the log. It contains no values. */
  factsOf({ facts }: Pick<ParsedState, 'facts'>): StateSummary {
    return { ...facts, outputs: facts.outputs.map((output) => ({ id: this.ids.next('wsout'), ...output })) };
  }
}
