import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderPage, parsePage, type Document, type QueryParameters as QueryOf } from '#api/json-api';
import { findRun } from '../runs/runs.queries.js';

/**
 * Run tasks are not implemented, so every run has an empty list of stages. The tfe provider requests the list before it
 * waits for a run (`tfe_workspace_run`), and accepts nothing but a list.
 */
@Controller('api/v2/runs/:id/task-stages')
export class TaskStagesController {
  constructor(private readonly database: Database) {}

  @Get()
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    await findRun(this.database, actor, id);
    return renderPage([], page, 0, request.publicUrl);
  }
}
