import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { renderApply, toRunId } from '../runs/runs.document.js';
import { RunLogLinks } from '../runs/run-logs.links.js';
import { findRun } from '../runs/runs.queries.js';

@Controller('api/v2')
export class AppliesController {
  constructor(
    private readonly database: Database,
    private readonly logs: RunLogLinks,
  ) {}

  @Get('applies/:id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(toRunId(id, 'apply'), actor);
  }

  @Get('runs/:id/apply')
  showByRun(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(id, actor);
  }

  private async ofRun(id: string, actor: Actor): Promise<Document> {
    return renderDocument(renderApply(await findRun(this.database, actor, id), this.logs.urlsFor(actor)));
  }
}
