import { Injectable } from '@nestjs/common';
import { conflict, notFound } from '#platform/kernel';
import { requirePermission, type Actor } from '#api/access';
import { readBytes } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { requireFence } from '../runs/run-fence.js';
import { toLogTarget } from '../runs/run-logs.links.js';
import { toPlanId } from '../runs/runs.document.js';
import { RunFiles, type PlanDocumentKind, type RunFile } from '../run-files/run.files.js';
import { findPlanOfDocuments, loadRunForLog, type RunForLog } from '../logs/run-logs.queries.js';
import { PlanRedactor } from './plan-redactor.threads.js';

type DocumentOwner = Pick<RunForLog, 'id' | 'fence'>;

export const toDocument = ({ id, fence }: DocumentOwner, kind: PlanDocumentKind): RunFile => ({ run: id, kind, fence });

/** Stores the documents of plans that executors upload, and the redacted plan that the server makes of them. */
@Injectable()
export class PlanDocuments {
  constructor(
    private readonly database: Database,
    private readonly files: RunFiles,
    private readonly redactor: PlanRedactor,
  ) {}

  /** Throws if the caller does not execute the run, or if the plan accepts no documents. Call it before the body is read. */
  async authorize(run: string, fence: number | null, actor: Actor): Promise<RunForLog> {
    const row = await loadRunForLog(this.database, actor, toLogTarget(toPlanId(run), 'plan'));
    if (!row.executable) throw notFound();
    requirePermission(actor, 'execute-run', row);
    requireFence(row.status, fence, row.fence);
    if (row.status !== 'planning')
      throw conflict(`Run is ${row.status}: documents of its plan are accepted while it is planning`);
    return row;
  }

  /** `bytes`: the most that `receive` returns. Nothing is received if other uploads need too much memory. */
  receive(bytes: number, receive: () => Promise<Buffer>, store: (document: Buffer) => Promise<void>): Promise<void> {
    return this.redactor.admit(bytes, async () => store(await receive()));
  }

  async storeSchemas(run: RunForLog, schemas: Buffer): Promise<void> {
    const { uploaded } = await this.redactor.checkSchemas(run.organization, schemas);
    await this.store(run, 'json-schema', uploaded);
  }

  async storePlan(run: RunForLog, plan: Buffer): Promise<void> {
    const { uploaded, redacted } = await this.redactor.redact(run.organization, plan, async () => {
      const stored = await this.files.get(toDocument(run, 'json-schema'));
      if (!stored) throw conflict('Upload json-schema first: it is needed to redact the plan');
      return readBytes(stored.content);
    });
    if (redacted) await this.store(run, 'json-output-redacted', redacted);
    await this.store(run, 'json-output', uploaded);
  }

  /** An executor that got no response sends the same document again. */
  private async store(run: RunForLog, kind: PlanDocumentKind, content: Uint8Array): Promise<void> {
    const file = toDocument(run, kind);
    if (await this.files.put(file, content)) return this.removeIfObsolete(run);
    const stored = await this.files.get(file);
    if (!stored || !(await readBytes(stored.content)).equals(content)) {
      throw conflict('Another document was uploaded for this plan');
    }
  }

  /** Removes what an executor has stored after its claim or its run has ended: nothing else would remove it. */
  private async removeIfObsolete({ id, fence }: RunForLog): Promise<void> {
    const current = await findPlanOfDocuments(this.database, id);
    if (!current) {
      await this.files.remove(id);
      throw notFound();
    }
    if (current.fence === fence) return;
    if (fence !== null) await this.files.removeUploads(id, fence);
    requireFence(current.status, fence, current.fence);
  }
}
