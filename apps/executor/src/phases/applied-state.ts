import { openAsBlob } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#platform/kernel';
import type { StateFile } from '../api/executor-api.js';
import { copyContainedFile } from '../archives/contained-files.js';
import type { DocumentReader } from '../documents/document-reader.js';

/** Bytes of a state file. */
const MAX_STATE_BYTES = 256 * 1024 * 1024;

type AppliedStateOptions = {
  /** What the run can write. */
  readonly folder: string;
  readonly path: string;
  /** Where the executor copies the state before it reads it. */
  readonly copy: string;
  readonly documents: DocumentReader;
  readonly intervalMs: number;
  readonly upload: (state: StateFile) => Promise<void>;
  readonly logger: Logger;
};

/** Uploads the state while an apply changes it, as it is on the disk. */
export class AppliedState {
  /** The MD5 hash of the state that the server has. */
  private uploaded: string | null = null;

  constructor(private readonly options: AppliedStateOptions) {}

  /** Remembers the state before the apply, which the server has. */
  async start(): Promise<void> {
    this.uploaded = await this.copyState();
  }

  /** Uploads each change until the signal aborts. A failure is left to `finish`. */
  async watch(signal: AbortSignal): Promise<void> {
    const { intervalMs, logger } = this.options;
    while (!signal.aborted) {
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.uploadIfChanged(signal);
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'intermediate state not uploaded');
      }
    }
  }

  /** Uploads the last state. Rejects if the server refuses it. */
  async finish(): Promise<void> {
    await this.uploadIfChanged(new AbortController().signal);
  }

  /** Resolves to the file of the state that the server does not have; to null if it has the state on the disk. */
  async readUnsaved(): Promise<string | null> {
    const md5 = await this.copyState();
    return md5 === null || md5 === this.uploaded ? null : this.options.copy;
  }

  private copyState(): Promise<string | null> {
    const { folder, path, copy } = this.options;
    return copyContainedFile(folder, path, copy, MAX_STATE_BYTES);
  }

  private async uploadIfChanged(signal: AbortSignal): Promise<void> {
    const { copy, documents, upload } = this.options;
    const md5 = await this.copyState();
    if (md5 === null || md5 === this.uploaded) return;
    // While terraform writes the file, it is not valid.
    const { serial, lineage } = await documents.read({ type: 'ReadState', state: copy }, signal);
    await upload({ content: await openAsBlob(copy), serial, lineage, md5 });
    this.uploaded = md5;
  }
}
