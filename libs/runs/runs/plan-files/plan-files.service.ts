import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { conflict, notFound, sql } from '#platform/kernel';
import { requireAddressOfLink, selectRangesOfLink, type Actor } from '#api/access';
import { checkContentLength, computeDigest, hashWhileReading, limitUpload, type StoredBlob } from '#storage/blob-store';
import type { Database } from '#platform/postgres';
import { selectFence } from '../logs/run-logs.queries.js';
import type { PlanDocuments } from '../plan-documents/plan-documents.service.js';
import type { RunFile, RunFiles } from '../run-files/run.files.js';
import { canExecute, RUN_JOINS } from '../runs/runs.queries.js';
import type { RunStatus } from '../runs/run-status.js';
import type { PlanFileTarget } from './plan-files.links.js';

/** An upload, and its size if the client has announced it. */
type PlanFileUpload = { readonly content: Readable; readonly length: number | null };

/** The run of a plan file. */
type PlanFileOwner = {
  readonly status: RunStatus;
  readonly planFence: number | null;
  readonly applyFence: number | null;
  /** Whether the pool that got the link still executes the run. */
  readonly executable: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

type PlanFilesOptions = {
  readonly database: Database;
  readonly documents: PlanDocuments;
  readonly files: RunFiles;
  /** Bytes of the largest file. */
  readonly limit: number;
};

const toPlanFile = (run: string, fence: number | null): RunFile => ({ run, kind: 'plan-file', fence });

/**
 * The archives with plans that executors upload, for the executors that apply them. They contain secrets, so nobody else can
 * read them. The sweeper of run files removes them when the run ends.
 */
export class PlanFiles {
  constructor(private readonly options: PlanFilesOptions) {}

  /** An executor that got no response sends the same file again. Throws a conflict for another file. */
  async receive(run: string, fence: number, { content, length }: PlanFileUpload, actor: Actor): Promise<void> {
    const { documents, files, limit } = this.options;
    await documents.authorize(run, fence, actor);
    checkContentLength(length, limit);
    const file = toPlanFile(run, fence);
    const sent = createHash('sha256');
    const isStored = await files.put(file, hashWhileReading(limitUpload(content, limit), sent));
    if (!isStored) {
      const stored = await files.get(file);
      if (!stored || !(await computeDigest(stored.content)).equals(sent.digest())) {
        throw conflict('Another file was uploaded for this plan');
      }
      return;
    }
    try {
      // The claim may have ended during the upload, and nothing would remove the file.
      await documents.authorize(run, fence, actor);
    } catch (error) {
      await files.removeFile(file);
      throw error;
    }
  }

  /** Opens the file for the executor with this link, while its claim of the apply is the newest one. */
  async open({ run, fence, recipient }: PlanFileTarget, address: string | null): Promise<StoredBlob> {
    const { database, files } = this.options;
    const owner = await database.row<PlanFileOwner>(sql`
      select r.status, ${selectFence('plan')} as "planFence", ${selectFence('apply')} as "applyFence",
             ${canExecute(recipient.id)} as executable,
             ${selectRangesOfLink(sql.raw('r.organization'), {
               type: sql`${recipient.type}::text`,
               id: sql`${recipient.id}::text`,
             })} as "allowedRanges"
        from runs r ${RUN_JOINS} where r.id = ${run}`);
    if (!owner) throw notFound();
    requireAddressOfLink(owner.allowedRanges, address);
    const isOpen = owner.executable && owner.status === 'applying' && owner.applyFence === fence;
    const file = isOpen ? await files.get(toPlanFile(run, owner.planFence)) : null;
    if (!file) throw notFound('The plan file is not here');
    return file;
  }
}
