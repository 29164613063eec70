import { createHash, type Hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { conflict, Ids, notFound, Refusal, unprocessable } from '#kernel';
import type { Actor } from '#access';
import { computeDigest, hashWhileReading } from '#blob-store';
import { Database } from '#postgres';
import { FinalizeUpload, ChangeWorkspace, type StateSummary } from '#workspaces';
import {
  isNeverFinalizable,
  findStateUploadTarget,
  type StateUploadTarget,
} from '../state-versions/state-versions.queries.js';
import { StateExtracts } from '../files/state.extracts.js';
import { EXTRACT_KINDS, StateFiles, type FileKind } from '../files/state.files.js';
import { StateReaders } from '../reading/state-reader.threads.js';
import type { ParsedState } from '../reading/state.parser.js';

/** Whether nothing was written for certain: an outage may have come after the commit. */
export const isDefiniteFailure = (error: unknown): boolean => error instanceof Refusal && error.kind !== 'unavailable';

const createConcurrentUploadRefusal = (): Refusal =>
  conflict('Another upload of this state version has just been refused');

const createAlreadyUploadedRefusal = (): Refusal => conflict('This state version has been uploaded already');

/** Passes content on and, at its end, fails it where its MD5 is not the declared one: then it is not stored. */
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
 * How a state file and the log come to agree, whenever a process is killed.
 *
 * The file first, under the version's id, then what is extracted from it, then the event: so whatever the log calls
 * finalized is there. A process killed
 * in between leaves a file that no event speaks of. It is not replaced by the next upload of the same version, but
 * proved to be the same content, and finalized: files are written once, so that nobody who is late can change what
 * another was told is stored. Of two uploads at once one stores the file, both then tell the workspace, and whoever
 * comes second changes nothing: not always the one that stored it. So a refusal is no reason to remove the file, unless
 * the version can never be finalized any more.
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

  /** Stores the file of a pending version and tells its workspace; `actor` null where a signed link stands for one. */
  async finalize(
    { id, workspace, organization, md5 }: Omit<StateUploadTarget, 'status'>,
    content: AsyncIterable<Uint8Array>,
    actor: Actor | null,
  ): Promise<void> {
    const sent = createHash('sha256');
    const stored = await this.files.put(id, 'state', verifyMd5(content, md5, sent));
    // Not by MD5: collisions can be made to order.
    if (!stored) await this.demandDigest(id, 'state', sent.digest());
    const reading = await this.readingOrNothing(id, organization, stored);
    await this.extracts.store(id, reading);
    const facts = this.factsOf(reading);
    try {
      const data = { id, facts };
      await this.bus.execute(
        actor
          ? new ChangeWorkspace({ id: workspace }, { type: 'FinalizeStateVersion', data }, actor)
          : new FinalizeUpload(workspace, data),
      );
    } catch (error) {
      if (isDefiniteFailure(error) && (await isNeverFinalizable(this.database, id)))
        await this.files.remove(id, ['state', ...EXTRACT_KINDS]);
      throw error;
    }
  }

  /** Refuses what is not, byte for byte, the state that is stored: who was cut off sends it again, and must hear yes. */
  async demandStored(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.demandDigest(id, 'state', await computeDigest(content));
  }

  /** The JSON form belongs to no event: it is there or not. */
  async storeJson(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const sent = createHash('sha256');
    if (!(await this.files.put(id, 'json-state', hashWhileReading(content, sent)))) {
      return this.demandDigest(id, 'json-state', sent.digest());
    }
    // It may have gone while this was coming in, and whoever removes its files may have been there before.
    if (await findStateUploadTarget(this.database, id)) return;
    await this.files.remove(id, ['json-state']);
    throw notFound();
  }

  private async demandDigest(id: string, kind: FileKind, sent: Buffer): Promise<void> {
    const digest = await this.files.digest(id, kind);
    if (!digest && kind === 'state') throw createConcurrentUploadRefusal();
    if (!digest?.equals(sent)) throw createAlreadyUploadedRefusal();
  }

  /** Removes its own file where that is no state: nobody else can have made anything of it. */
  private async readingOrNothing(id: string, organization: string, stored: boolean): Promise<ParsedState> {
    try {
      const size = await this.files.size(id, 'state');
      const reading =
        size === null ? null : await this.readers.readState(organization, size, () => this.files.bytes(id));
      // Another request has just found that the file is not a state, and has removed it.
      if (!reading) throw createConcurrentUploadRefusal();
      return reading;
    } catch (error) {
      // Where it only could not be read now, the next upload of the same file is finalized.
      if (stored && error instanceof Refusal && error.kind === 'unprocessable') await this.files.remove(id, ['state']);
      throw error;
    }
  }

  /** The facts that go into the log. They contain no value. */
  factsOf({ facts }: Pick<ParsedState, 'facts'>): StateSummary {
    return { ...facts, outputs: facts.outputs.map((output) => ({ id: this.ids.next('wsout'), ...output })) };
  }
}
