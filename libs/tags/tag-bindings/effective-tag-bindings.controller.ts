import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#postgres';
import { renderDocument, HistoryReader, type Document, type QueryParameters as QueryOf } from '#json-api';
import { listProjectBindings, listWorkspaceBindings, renderEffectiveTagBinding } from '#tag-bindings';

/** What counts: what workspaces bind themselves, and what they inherit. */
@Controller('api/v2')
export class EffectiveTagBindingsController {
  constructor(
    private readonly database: Database,
    private readonly history: HistoryReader,
  ) {}

  @Get('workspaces/:id/effective-tag-bindings')
  async ofWorkspace(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const past = await this.history.pointInTime(query, { workspace: id });
    const bindings = await listWorkspaceBindings(this.database, actor, id, 'effective', past);
    return renderDocument(bindings.map(renderEffectiveTagBinding));
  }

  /** Projects inherit nothing: what they bind is what counts. */
  @Get('projects/:id/effective-tag-bindings')
  async ofProject(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const past = await this.history.pointInTime(query, { project: id });
    return renderDocument((await listProjectBindings(this.database, actor, id, past)).map(renderEffectiveTagBinding));
  }
}
