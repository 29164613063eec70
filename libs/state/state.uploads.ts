import { createHash, type Hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { conflict, Ids, notFound, Refused, unprocessable } from '#kernel';
import type { Actor } from '#access';
import { digestOf, hashed } from '#blob-store';
import { Database } from '#event-store';
import { FinalizeUpload, ToWorkspace, type StateFacts } from '#workspaces/to-workspace';
import { parseStateFile } from './state-file.js';
import { isHopeless, uploadTarget, type StateVersionRow } from './state-versions.queries.js';
import { StateFiles, type FileKind } from './state.files.js';

/** What a file says becomes one event: far below what an event may be, for there are envelopes around it. */
const FACTS_MAX_BYTES = 512 * 1024;

const isTooLarge = (facts: StateFacts): boolean => Buffer.byteLength(JSON.stringify(facts)) > FACTS_MAX_BYTES;

/** Types of outputs are the one thing that may be left out: the CLI then reads the whole state. */
const bounded = (facts: StateFacts): StateFacts => {
  if (!isTooLarge(facts)) return facts;
  const brief = { ...facts, outputs: facts.outputs.map((output) => ({ ...output, detailedType: null })) };
  if (isTooLarge(brief)) throw unprocessable('The state file has too many outputs, modules and providers');
  return brief;
};

/** Whether nothing was written for certain: an outage may have come after the commit. */
export const isCertain = (error: unknown): boolean => error instanceof Refused && error.kind !== 'unavailable';

const alreadyUploaded = (): Refused => conflict('This state version has been uploaded already');

/** Passes content on and, at its end, fails it where its MD5 is not the declared one: then it is not stored. */
const checked = async function* (
  content: AsyncIterable<Uint8Array>,
  declared: string,
  sha256: Hash,
): AsyncGenerator<Uint8Array> {
  const md5 = createHash('md5');
  for await (const piece of hashed(content, sha256)) {
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
 * The file first, under the version's id, then the event: so whatever the log calls finalized is there. A process killed
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
    private readonly ids: Ids,
  ) {}

  /** Stores the file of a pending version and tells its workspace; `actor` null where a signed link stands for one. */
  async finalize(
    { id, workspace, md5 }: Pick<StateVersionRow, 'id' | 'workspace' | 'md5'>,
    content: AsyncIterable<Uint8Array>,
    actor: Actor | null,
  ): Promise<void> {
    const sent = createHash('sha256');
    const stored = await this.files.put(id, 'state', checked(content, md5, sent));
    const bytes = await this.files.bytes(id);
    // It was there a moment ago, was found to be no state, and removed.
    if (!bytes) throw conflict('Another upload of this state version has just been refused');
    // Not by MD5: collisions can be made to order.
    if (!stored && !createHash('sha256').update(bytes).digest().equals(sent.digest())) throw alreadyUploaded();
    const facts = await this.factsOrNothing(id, bytes, stored);
    try {
      const data = { id, facts };
      await this.bus.execute(
        actor
          ? new ToWorkspace({ id: workspace }, { type: 'FinalizeStateVersion', data }, actor)
          : new FinalizeUpload(workspace, data),
      );
    } catch (error) {
      if (isCertain(error) && (await isHopeless(this.database, id))) await this.files.remove(id, ['state']);
      throw error;
    }
  }

  /** Refuses what is not, byte for byte, the state that is stored: who was cut off sends it again, and must hear yes. */
  async demandStored(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.demandDigest(id, 'state', await digestOf(content));
  }

  /** The JSON form belongs to no event: it is there or not. */
  async storeJson(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const sent = createHash('sha256');
    if (!(await this.files.put(id, 'json-state', hashed(content, sent)))) {
      return this.demandDigest(id, 'json-state', sent.digest());
    }
    // It may have gone while this was coming in, and whoever removes its files may have been there before.
    if (await uploadTarget(this.database, id)) return;
    await this.files.remove(id, ['json-state']);
    throw notFound();
  }

  private async demandDigest(id: string, kind: FileKind, sent: Buffer): Promise<void> {
    if (!(await this.files.digest(id, kind))?.equals(sent)) throw alreadyUploaded();
  }

  /** Removes its own file where that is no state: nobody else can have made anything of it. */
  private async factsOrNothing(id: string, bytes: Buffer, stored: boolean): Promise<StateFacts> {
    try {
      return this.factsOf(bytes);
    } catch (error) {
      if (stored) await this.files.remove(id, ['state']);
      throw error;
    }
  }

  /** What goes into the log: not a single value. Throws `unprocessable` for what is not a state. */
  factsOf(bytes: Buffer): StateFacts {
    const file = parseStateFile(bytes);
    return bounded({
      size: bytes.length,
      terraformVersion: file.terraformVersion,
      resources: file.resources.length,
      providers: file.providers,
      modules: file.modules,
      outputs: file.outputs.map(({ name, sensitive, type, detailedType }) => {
        return { id: this.ids.next('wsout'), name, sensitive, type, detailedType };
      }),
    });
  }
}
