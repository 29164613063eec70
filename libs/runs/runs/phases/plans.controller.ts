import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { notFound } from '#platform/kernel';
import { renderPlan, toRunId } from '../runs/runs.document.js';
import { RunLogLinks } from '../logs/run-logs.links.js';
import { findRun } from '../runs/runs.queries.js';

@Controller('api/v2')
export class PlansController {
  constructor(
    private readonly database: Database,
    private readonly logs: RunLogLinks,
  ) {}

  @Get('plans/:id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(toRunId(id, 'plan'), actor);
  }

  @Get('runs/:id/plan')
  showByRun(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(id, actor);
  }

  /** Executors report counts only. They keep the plan itself, because it can contain secrets. */
  @Get('plans/:id/json-output')
  async json(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<never> {
    await this.ofRun(toRunId(id, 'plan'), actor);
    throw notFound('The JSON output of this plan is not available');
  }

  private async ofRun(id: string, actor: Actor): Promise<Document> {
    return renderDocument(renderPlan(await findRun(this.database, actor, id), this.logs.urlsFor(actor)));
  }
}
