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

/** What an executor uploads with the fence of its plan: the documents, and the archive with the plan for the apply. */
export const PLAN_UPLOADS = [...PLAN_DOCUMENTS, 'plan-file'] as const;
type PlanUploadKind = (typeof PLAN_UPLOADS)[number];

/** The state of an apply that the workspace did not accept. */
export const ERRORED_STATE = 'errored-state';

/** Files that the server writes when a phase has ended. */
export const LOG_FILES = ['plan-log', 'apply-log'] as const;
export type LogFileKind = (typeof LOG_FILES)[number];

/**
 * A file of a run. Files that executors upload belong to a claim: an upload of an executor that has lost its claim becomes a
 * file that nobody reads. `fence` is null if nobody has claimed the phase, and for logs.
 */
export type RunFile =
  | { readonly run: string; readonly kind: LogFileKind; readonly fence: null }
  | { readonly run: string; readonly kind: PlanUploadKind | typeof ERRORED_STATE; readonly fence: number | null };

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

  removeFile(file: RunFile): Promise<void> {
    return this.blobs.delete(toBlobKey(file));
  }

  /** Removes what executors with this fence have uploaded for the plan. */
  async removeUploads(run: string, fence: number): Promise<void> {
    await Promise.all(PLAN_UPLOADS.map((kind) => this.blobs.delete(toBlobKey({ run, kind, fence }))));
  }

  /** Removes the archives with the plan, also those of earlier claims. */
  removePlanFiles(run: string): Promise<void> {
    return this.removeListed(run, (key) => key.startsWith(toBlobKey({ run, kind: 'plan-file', fence: null })));
  }

  /** Removes all files of a run, also those of earlier claims. */
  remove(run: string): Promise<void> {
    return this.removeListed(run, () => true);
  }

  private async removeListed(run: string, isRemoved: (key: string) => boolean): Promise<void> {
    const keys: string[] = [];
    for await (const { key } of this.blobs.list(`${RUN_FILES}/${run}`)) if (isRemoved(key)) keys.push(key);
    // A run has few files.
    await Promise.all(keys.map((key) => this.blobs.delete(key)));
  }
}
