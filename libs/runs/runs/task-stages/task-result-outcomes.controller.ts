import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { renderTaskOutcome } from './task-stages.document.js';
import { findTaskOutcome, findTaskResult } from './task-stages.queries.js';

/** The details of what services of run tasks have reported. */
@Controller('api/v2')
export class TaskResultOutcomesController {
  constructor(private readonly database: Database) {}

  @Get('task-results/:id/outcomes')
  async list(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { outcomes } = await findTaskResult(this.database, actor, id);
    return renderDocument(outcomes.map((outcome) => renderTaskOutcome(outcome, id)));
  }

  @Get('task-result-outcomes/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { outcome, result } = await findTaskOutcome(this.database, actor, id);
    return renderDocument(renderTaskOutcome(outcome, result));
  }
}
