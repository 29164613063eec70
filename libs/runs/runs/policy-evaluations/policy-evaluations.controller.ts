import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { parsePage, renderDocument, renderPage, slicePage, type Document, type QueryParameters } from '#api/json-api';
import { renderPolicyEvaluation } from './policy-evaluations.document.js';
import { findPolicyEvaluation, listEvaluationsOfStage } from './policy-evaluations.queries.js';

/** The results of the policies of plans. */
@Controller('api/v2')
export class PolicyEvaluationsController {
  constructor(private readonly database: Database) {}

  @Get('task-stages/:id/policy-evaluations')
  async list(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const rows = await listEvaluationsOfStage(this.database, actor, id);
    const resources = slicePage(rows, page).map(renderPolicyEvaluation);
    return renderPage(resources, page, rows.length, request.publicUrl);
  }

  @Get('policy-evaluations/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderPolicyEvaluation(await findPolicyEvaluation(this.database, actor, id)));
  }
}
