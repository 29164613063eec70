import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, parseBody, type Document } from '#json-api';
import { tagBindingResource } from './tag-bindings.document.js';
import { ToWorkspace } from './to-workspace.js';
import { bindingsBody, bindingsOf } from './workspaces.body.js';
import { workspaceFor } from './workspaces.queries.js';

@Controller('api/v2')
export class TagBindingsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('workspaces/:id/tag-bindings')
  async list(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { tags } = await workspaceFor(this.database, actor, 'read-workspace', { id });
    return document(tags.map((tag) => tagBindingResource(id, tag, 'tag-bindings')));
  }

  @Get('workspaces/:id/effective-tag-bindings')
  async listEffective(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const { tags } = await workspaceFor(this.database, actor, 'read-workspace', { id });
    return document(tags.map((tag) => tagBindingResource(id, tag, 'effective-tag-bindings')));
  }

  /** Adds or overwrites by key; answers with the bindings sent, in that order (clients.md §1). */
  @Patch('workspaces/:id/tag-bindings')
  async bind(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const bindings = bindingsOf(parseBody(bindingsBody, body).data, '/data');
    await this.bus.execute(new ToWorkspace({ id }, { type: 'BindTags', data: { bindings } }, actor));
    return document(bindings.map((tag) => tagBindingResource(id, tag, 'tag-bindings')));
  }
}
