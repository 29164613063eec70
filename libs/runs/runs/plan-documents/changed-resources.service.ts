import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { EncryptionKeys } from '#platform/encryption';
import type { Database } from '#platform/postgres';
import { EncryptedBlobs, readBytes, type BlobStore } from '#storage/blob-store';
import type { EventStore } from '#storage/event-store';
import { findPlanOfDocuments } from '../logs/run-logs.queries.js';
import { RunFiles } from '../run-files/run.files.js';
import { listChangedResources, type ChangedResource } from './changed-resources.js';

const decompress = promisify(gunzip);

/** Larger plans, compressed and not, are not read: they would occupy the event loop. */
const MAX_FILE_BYTES = 256 * 1_024;
const MAX_BYTES = 2 * 1_024 * 1_024;

/** What plans change, by the documents without sensitive values. */
export class ChangedResources {
  constructor(
    private readonly database: Database,
    private readonly files: RunFiles,
  ) {}

  /** Returns the resources that the plan of a run changes; null if the document does not exist, is too large, or has another form. */
  async list(run: string): Promise<readonly ChangedResource[] | null> {
    const plan = await findPlanOfDocuments(this.database, run);
    if (!plan) return null;
    const file = { run, kind: 'json-output-redacted', fence: plan.fence } as const;
    const size = await this.files.size(file);
    const stored = size !== null && size <= MAX_FILE_BYTES ? await this.files.get(file) : null;
    if (!stored) return null;
    const document = await readBytes(stored.content);
    try {
      const text = await decompress(document, { maxOutputLength: MAX_BYTES });
      return listChangedResources(JSON.parse(text.toString()));
    } catch {
      return null;
    }
  }
}

/** Creates the reader for the job that comments on pull requests. */
export const createChangedResources = ({
  store,
  blobs,
  encryptionKeys,
}: {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly encryptionKeys: EncryptionKeys;
}): ChangedResources => new ChangedResources(store.database, new RunFiles(new EncryptedBlobs(blobs, encryptionKeys)));
