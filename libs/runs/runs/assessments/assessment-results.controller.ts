import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentActor, requirePermission, type Actor } from '#api/access';
import { renderDocument, renderList, type Document, type PageRequest } from '#api/json-api';
import { Database } from '#platform/postgres';
import { PlanDocumentRedirects } from '../plan-documents/plan-document-redirects.service.js';
import { RunLogLinks } from '../runs/run-logs.links.js';
import { toPlanId } from '../runs/runs.document.js';
import { RunRenderer } from '../runs/runs.renderer.js';
import { toRunId } from './assessment.js';
import { renderAssessment } from './assessments.document.js';
import { Assessments } from './assessments.service.js';
import { findAssessment, findCurrentAssessment, listCurrentAssessments } from './assessments.view.js';

/** Results of health assessments. Their documents and logs are those of the plan. */
@Controller('api/v2')
export class AssessmentResultsController {
  constructor(
    private readonly database: Database,
    private readonly documents: PlanDocumentRedirects,
    private readonly logs: RunLogLinks,
    private readonly assessments: Assessments,
    private readonly runs: RunRenderer,
  ) {}

  /** Starts an assessment at once, instead of at the next time of the schedule. */
  @Post('workspaces/:id/actions/assess')
  async assess(@Param('id') workspace: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(this.runs.resource(await this.assessments.start(workspace, actor), actor));
  }

  @Get('organizations/:organization/assessment-results')
  listOfOrganization(
    @Param('organization') organization: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const list = (page: PageRequest) => listCurrentAssessments(this.database, actor, organization, page);
    return renderList(request, list, renderAssessment);
  }

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
