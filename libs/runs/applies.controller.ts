import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, type Document } from '#json-api';
import { applyResource, runIdOf } from './runs.document.js';
import { runFor } from './runs.queries.js';

@Controller('api/v2')
export class AppliesController {
  constructor(private readonly database: Database) {}

  @Get('applies/:id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(runIdOf(id, 'apply'), actor);
  }

  @Get('runs/:id/apply')
  showByRun(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.ofRun(id, actor);
  }

  private async ofRun(id: string, actor: Actor): Promise<Document> {
    return document(applyResource(await runFor(this.database, actor, 'read-runs', id)));
  }
}
