import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  defineRelated,
  getSlowReadCaller,
  parseInclude,
  parsePage,
  readRelated,
  renderDocument,
  renderPage,
  type Document,
  type QueryParameters,
  type Resource,
} from '#api/json-api';
import { renderPolicyEvaluation } from '../policy-evaluations/policy-evaluations.document.js';
import {
  selectEvaluationsOfStages,
  type PolicyEvaluationRow,
} from '../policy-evaluations/policy-evaluations.queries.js';
import { renderTaskResult, renderTaskStage } from './task-stages.document.js';
import {
  findTaskStage,
  listTaskStages,
  selectResultsOfStages,
  type TaskResultRow,
  type TaskStageRow,
} from './task-stages.queries.js';

export const TASK_STAGE_INCLUDES = ['task_results', 'policy_evaluations'] as const;
type TaskStageIncludes = ReadonlySet<(typeof TASK_STAGE_INCLUDES)[number]> | null;

/** The stages of a run in which services of run tasks and policies decide. */
@Controller('api/v2')
export class TaskStagesController {
  constructor(private readonly database: Database) {}

  @Get('runs/:id/task-stages')
  async list(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const includes = parseInclude(query, TASK_STAGE_INCLUDES);
    const all = await listTaskStages(this.database, actor, id);
    const rows = all.slice((page.number - 1) * page.size, page.number * page.size);
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(
      rows.map((row) => renderTaskStage(row, actor)),
      page,
      all.length,
      request.publicUrl,
      included,
    );
  }

  @Get('task-stages/:id')
  async show(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, TASK_STAGE_INCLUDES);
    const row = await findTaskStage(this.database, actor, id);
    return renderDocument(renderTaskStage(row, actor), await this.loadIncluded([row], includes, actor));
  }

  private async loadIncluded(
    rows: readonly TaskStageRow[],
    includes: TaskStageIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const results = defineRelated<{ readonly result: TaskResultRow }>(
      selectResultsOfStages(rows.map(({ id }) => id)),
      (all) => all.map(({ result }) => renderTaskResult(result)),
    );
    const evaluations = defineRelated<{ readonly evaluation: PolicyEvaluationRow }>(
      selectEvaluationsOfStages(rows.map(({ id }) => id)),
      (all) => all.map(({ evaluation }) => renderPolicyEvaluation(evaluation)),
    );
    const related =
      rows.length === 0
        ? []
        : [
            ...(includes.has('task_results') ? [results] : []),
            ...(includes.has('policy_evaluations') ? [evaluations] : []),
          ];
    return readRelated(this.database, related, getSlowReadCaller(actor, rows));
  }
}
