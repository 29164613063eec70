import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '#platform/kernel';
import { requirePermission, type Actor } from '#api/access';
import { ReadRecorder } from '#api/reads';
import { Database } from '#platform/postgres';
import { getPhaseStatus, hasEnded } from '../logs/run-log.js';
import type { PlanOutputRead } from '../reads.events.js';
import { RunFiles, type PlanDocumentKind } from '../run-files/run.files.js';
import { createDeletedDataRefusal } from '../runs/run.js';
import { ASSESSMENT } from '../runs/run-event.js';
import { findRun, type RunRow } from '../runs/runs.queries.js';
import { PlanDocumentLinks } from './plan-documents.links.js';
import { toDocument } from './plan-documents.service.js';

/** Redirects callers to signed links of the documents of plans. */
@Injectable()
export class PlanDocumentRedirects {
  constructor(
    private readonly database: Database,
    private readonly files: RunFiles,
    private readonly links: PlanDocumentLinks,
    private readonly reads: ReadRecorder,
  ) {}

  /** Responds with 204 until the plan has ended. */
  async redirect(run: string, kind: PlanDocumentKind, actor: Actor, reply: FastifyReply): Promise<void> {
    await this.redirectTo(await findRun(this.database, actor, run), kind, actor, reply);
  }

  /** The same for the plan of a health assessment. Throws not-found for other runs. */
  async redirectOfAssessment(run: string, kind: PlanDocumentKind, actor: Actor, reply: FastifyReply): Promise<void> {
    const row = await findRun(this.database, actor, run);
    if (row.source !== ASSESSMENT) throw notFound();
    await this.redirectTo(row, kind, actor, reply);
  }

  private async redirectTo(row: RunRow, kind: PlanDocumentKind, actor: Actor, reply: FastifyReply): Promise<void> {
    const { id: run } = row;
    if (kind !== 'json-output-redacted') requirePermission(actor, 'read-plan-output', row);
    if (!hasEnded(getPhaseStatus('plan', row))) return void reply.status(204);
    if (row.dataDeletedAt !== null) throw createDeletedDataRefusal();
    const document = toDocument({ id: run, fence: row.planExecution?.fence ?? null }, kind);
    if ((await this.files.size(document)) === null) throw notFound('The executor has not uploaded this document');
    if (kind === 'json-output') {
      const data = { run, workspace: row.workspace, shown: 'link', linkOf: actor.id } as const;
      await this.reads.record<PlanOutputRead>(actor, row.organization, { type: 'PlanOutputDownloaded', data });
    }
    void reply.header('location', this.links.urlOf(run, kind, actor));
  }
}
