import { Injectable } from '@nestjs/common';
import { conflict, notFound } from '#platform/kernel';
import { requirePermission, type Actor } from '#api/access';
import { readBytes } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { toPlanId } from '../runs/runs.document.js';
import { RunFiles, type PlanDocumentKind } from '../run-files/run.files.js';
import { isRunStored, loadRunForLog, type RunForLog } from '../logs/run-logs.queries.js';
import { PlanRedactor } from './plan-redactor.threads.js';

/** Stores the documents of plans that executors upload, and the redacted plan that the server makes of them. */
@Injectable()
export class PlanDocuments {
  constructor(
    private readonly database: Database,
    private readonly files: RunFiles,
    private readonly redactor: PlanRedactor,
  ) {}

  /** Throws if the caller does not execute the run, or if the plan accepts no documents. Call it before the body is read. */
  async authorize(run: string, actor: Actor): Promise<RunForLog> {
    const row = await loadRunForLog(this.database, actor, { run, phase: toPlanId(run) });
    if (!row.executable) throw notFound();
    requirePermission(actor, 'execute-run', row);
    if (row.status !== 'planning')
      throw conflict(`Run is ${row.status}: documents of its plan are accepted while it is planning`);
    return row;
  }

  async storeSchemas({ id, organization }: RunForLog, schemas: Buffer): Promise<void> {
    const { uploaded } = await this.redactor.run(organization, { type: 'CheckSchemas', schemas });
    await this.store(id, 'json-schema', uploaded);
  }

  async storePlan({ id, organization }: RunForLog, plan: Buffer): Promise<void> {
    const stored = await this.files.get(id, 'json-schema');
    if (!stored) throw conflict('Upload json-schema first: it is needed to redact the plan');
    const schemas = await readBytes(stored.content);
    const { uploaded, redacted } = await this.redactor.run(organization, { type: 'RedactPlan', plan, schemas });
    if (redacted) await this.store(id, 'json-output-redacted', redacted);
    await this.store(id, 'json-output', uploaded);
  }

  /** An executor that got no response sends the same document again. */
  private async store(run: string, kind: PlanDocumentKind, content: Uint8Array): Promise<void> {
    if (await this.files.put(run, kind, content)) {
      // The run was deleted during the upload, after its files were removed.
      if (!(await isRunStored(this.database, run))) {
        await this.files.remove(run);
        throw notFound();
      }
      return;
    }
    const stored = await this.files.get(run, kind);
    if (!stored || !(await readBytes(stored.content)).equals(content)) {
      throw conflict('Another document was uploaded for this plan');
    }
  }
}
