import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Logger } from '#platform/kernel';
import type { StateFile } from '../api/executor-api.js';
import { readContainedFile } from '../archives/contained-files.js';
import { RunError } from '../executor-error.js';

/** Bytes of a state file. */
const MAX_STATE_BYTES = 256 * 1024 * 1024;

const stateFile = z.object({ serial: z.int().min(0), lineage: z.string().min(1) });

/** Returns null if terraform was writing the file. */
const parseState = (content: Buffer<ArrayBuffer>): StateFile | null => {
  try {
    const { serial, lineage } = stateFile.parse(JSON.parse(content.toString()));
    return { content, serial, lineage, md5: createHash('md5').update(content).digest('hex') };
  } catch {
    return null;
  }
};

type AppliedStateOptions = {
  /** What the run can write. */
  readonly folder: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly upload: (state: StateFile) => Promise<void>;
  readonly logger: Logger;
};

/** Uploads the state while an apply changes it, as it is on the disk. */
export class AppliedState {
  private uploaded: Buffer | null = null;

  constructor(private readonly options: AppliedStateOptions) {}

  /** Remembers the state before the apply, which the server has. */
  async start(): Promise<void> {
    this.uploaded = await this.read();
  }

  /** Uploads each change until the signal aborts. A failure is left to `finish`. */
  async watch(signal: AbortSignal): Promise<void> {
    const { intervalMs, logger } = this.options;
    while (!signal.aborted) {
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.uploadIfChanged();
      } catch (error) {
        logger.warn({ err: error }, 'intermediate state not uploaded');
      }
    }
  }

  /** Uploads the last state. Rejects if the server refuses it. */
  async finish(): Promise<void> {
    const content = await this.readUnsaved();
    if (content === null) return;
    const state = parseState(content);
    if (state === null) throw new RunError('The state file of terraform is damaged.');
    await this.options.upload(state);
    this.uploaded = content;
  }

  /** Resolves to the state that the server does not have; to null if it has the state on the disk. */
  async readUnsaved(): Promise<Buffer<ArrayBuffer> | null> {
    const content = await this.read();
    return content === null || this.uploaded?.equals(content) ? null : content;
  }

  private read(): Promise<Buffer<ArrayBuffer> | null> {
    return readContainedFile(this.options.folder, this.options.path, MAX_STATE_BYTES);
  }

  private async uploadIfChanged(): Promise<void> {
    const content = await this.readUnsaved();
    const state = content && parseState(content);
    if (!state) return;
    await this.options.upload(state);
    this.uploaded = content;
  }
}
