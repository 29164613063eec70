import { Controller, Get, Param } from '@nestjs/common';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, type Document } from '#json-api';
import { effectiveTagBindingResource } from './tag-bindings.document.js';
import { bindingsOfProject, bindingsOfWorkspace } from './tag-bindings.queries.js';

/** What counts: what workspaces bind themselves, and what they inherit. */
@Controller('api/v2')
export class EffectiveTagBindingsController {
  constructor(private readonly database: Database) {}

  @Get('workspaces/:id/effective-tag-bindings')
  async ofWorkspace(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(
      (await bindingsOfWorkspace(this.database, actor, id, 'effective')).map(effectiveTagBindingResource),
    );
  }

  /** Projects inherit nothing: what they bind is what counts. */
  @Get('projects/:id/effective-tag-bindings')
  async ofProject(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document((await bindingsOfProject(this.database, actor, id)).map(effectiveTagBindingResource));
  }
}
