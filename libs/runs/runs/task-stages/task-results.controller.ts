import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { renderTaskResult } from './task-stages.document.js';
import { findTaskResult } from './task-stages.queries.js';

/** What services of run tasks have reported. */
@Controller('api/v2')
export class TaskResultsController {
  constructor(private readonly database: Database) {}

  @Get('task-results/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTaskResult(await findTaskResult(this.database, actor, id)));
  }
}
