import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, HistoryReader, type Document, type QueryParameters as QueryOf } from '#api/json-api';
import { listProjectBindings, listWorkspaceBindings, renderEffectiveTagBinding } from '#organizations/tag-bindings';

/** Own and inherited tags, as they apply to workspaces and projects. */
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

  /** Lists the effective bindings of a project, which are its own: projects inherit nothing. */
  @Get('projects/:id/effective-tag-bindings')
  async ofProject(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const past = await this.history.pointInTime(query, { project: id });
    return renderDocument((await listProjectBindings(this.database, actor, id, past)).map(renderEffectiveTagBinding));
  }
}
