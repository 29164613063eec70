import { Controller, Get, HttpCode, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentActor, requirePermission, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { Database } from '#platform/postgres';
import { PlanDocumentRedirects } from '../plan-documents/plan-document-redirects.service.js';
import { RunLogLinks } from '../runs/run-logs.links.js';
import { toPlanId } from '../runs/runs.document.js';
import { toRunId } from './assessment.js';
import { renderAssessment } from './assessments.document.js';
import { findAssessment, findCurrentAssessment } from './assessments.view.js';

/** Results of health assessments. Their documents and logs are those of the plan. */
@Controller('api/v2')
export class AssessmentResultsController {
  constructor(
    private readonly database: Database,
    private readonly documents: PlanDocumentRedirects,
    private readonly logs: RunLogLinks,
  ) {}

  @Get('workspaces/:id/current-assessment-result')
  async current(@Param('id') workspace: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderAssessment(await findCurrentAssessment(this.database, actor, workspace)));
  }

  @Get('assessment-results/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderAssessment(await findAssessment(this.database, actor, id)));
  }

  @Get('assessment-results/:id/json-output')
  @HttpCode(307)
  output(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.documents.redirectOfAssessment(toRunId(id), 'json-output', actor, reply);
  }

  @Get('assessment-results/:id/json-schema')
  @HttpCode(307)
  schemas(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.documents.redirectOfAssessment(toRunId(id), 'json-schema', actor, reply);
  }

  @Get('assessment-results/:id/log-output')
  @HttpCode(307)
  async log(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const row = await findAssessment(this.database, actor, id);
    requirePermission(actor, 'read-plan-output', row);
    void reply.header('location', this.logs.urlsFor(actor)(toPlanId(row.run)));
  }
}
