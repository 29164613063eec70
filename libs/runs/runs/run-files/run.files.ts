import {
  BlobExistsError,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#storage/blob-store';

/** First segment of the keys of all files of runs. */
export const RUN_FILES = 'runs';

/** Documents of plans, compressed. */
export const PLAN_DOCUMENTS = ['json-output', 'json-output-redacted', 'json-schema'] as const;
export type PlanDocumentKind = (typeof PLAN_DOCUMENTS)[number];

/** Files that the server writes when a phase has ended. */
export const LOG_FILES = ['plan-log', 'apply-log'] as const;
export type LogFileKind = (typeof LOG_FILES)[number];

/**
 * A file of a run. Files that executors upload belong to a claim: an upload of an executor that has lost its claim becomes a
 * file that nobody reads. `fence` is null if nobody has claimed the phase, and for logs.
 */
export type RunFile =
  | { readonly run: string; readonly kind: LogFileKind; readonly fence: null }
  | { readonly run: string; readonly kind: PlanDocumentKind; readonly fence: number | null };

const toBlobKey = ({ run, kind, fence }: RunFile): string =>
  `${RUN_FILES}/${run}/${fence === null ? kind : `${kind}-${fence}`}`;

/** Files are written once. */
export class RunFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** Returns false if the file exists. */
  async put(file: RunFile, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(toBlobKey(file), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExistsError) return false;
      throw error;
    }
  }

  /** Returns null if the file does not exist. */
  get(file: RunFile, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(file), range);
  }

  async size(file: RunFile): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(file)))?.size ?? null;
  }

  /** Removes the documents that executors with this fence have uploaded. */
  async removeDocuments(run: string, fence: number): Promise<void> {
    await Promise.all(PLAN_DOCUMENTS.map((kind) => this.blobs.delete(toBlobKey({ run, kind, fence }))));
  }

  /** Removes all files of a run, also those of earlier claims. */
  async remove(run: string): Promise<void> {
    for await (const { key } of this.blobs.list(`${RUN_FILES}/${run}`)) await this.blobs.delete(key);
  }
}
