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

/** The files that a run can have. */
export const RUN_FILE_KINDS = ['plan-log', 'apply-log', ...PLAN_DOCUMENTS] as const;
export type RunFileKind = (typeof RUN_FILE_KINDS)[number];

const toBlobKey = (run: string, kind: RunFileKind): string => `${RUN_FILES}/${run}/${kind}`;

/** Files are written once. */
export class RunFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** Returns false if the file exists. */
  async put(run: string, kind: RunFileKind, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(toBlobKey(run, kind), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExistsError) return false;
      throw error;
    }
  }

  /** Returns null if the file does not exist. */
  get(run: string, kind: RunFileKind, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(run, kind), range);
  }

  async size(run: string, kind: RunFileKind): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(run, kind)))?.size ?? null;
  }

  async remove(run: string): Promise<void> {
    await Promise.all(RUN_FILE_KINDS.map((kind) => this.blobs.delete(toBlobKey(run, kind))));
  }
}
