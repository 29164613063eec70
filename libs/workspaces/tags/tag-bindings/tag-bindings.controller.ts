import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { BindingMode, Tag } from '#platform/kernel';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, HistoryReader, type Document, type QueryParameters as QueryOf } from '#api/json-api';
import { ChangeProject } from '#organizations/organizations';
import { ChangeWorkspace } from '#workspaces/workspaces';
import {
  parseBindings,
  listProjectBindings,
  listWorkspaceBindings,
  renderTagBinding,
  type BindingRow,
} from '#organizations/tag-bindings';

const OF_WORKSPACE = 'workspaces/:id/tag-bindings';
const OF_PROJECT = 'projects/:id/tag-bindings';
/** Paths of the relationship: PATCH replaces all bindings, and the responses are empty. DELETE is our own. */
const RELATED_TO_WORKSPACE = 'workspaces/:id/relationships/tag-bindings';
const RELATED_TO_PROJECT = 'projects/:id/relationships/tag-bindings';

/** Own tags of workspaces and projects. A flat tag shows as a binding with an empty value. */
@Controller('api/v2')
export class TagBindingsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly history: HistoryReader,
  ) {}

  @Get([OF_WORKSPACE, RELATED_TO_WORKSPACE])
  async ofWorkspace(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const past = await this.history.pointInTime(query, { workspace: id });
    return renderDocument((await listWorkspaceBindings(this.database, actor, id, 'own', past)).map(renderTagBinding));
  }

  @Get([OF_PROJECT, RELATED_TO_PROJECT])
  async ofProject(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const past = await this.history.pointInTime(query, { project: id });
    return renderDocument((await listProjectBindings(this.database, actor, id, past)).map(renderTagBinding));
  }

  /** Adds or replaces bindings by key. Returns the sent bindings in the order of the request. */
  @Patch(OF_WORKSPACE)
  async addToWorkspace(
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const bindings = parseBindings(body);
    return renderBindings(bindings, await this.bindToWorkspace(id, bindings, 'adding', actor));
  }

  @Patch(OF_PROJECT)
  async addToProject(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const bindings = parseBindings(body);
    return renderBindings(bindings, await this.bindToProject(id, bindings, 'adding', actor));
  }

  @Post(RELATED_TO_WORKSPACE)
  @HttpCode(204)
  async relateToWorkspace(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    await this.bindToWorkspace(id, parseBindings(body), 'adding', actor);
  }

  @Patch(RELATED_TO_WORKSPACE)
  @HttpCode(204)
  async replaceInWorkspace(
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.bindToWorkspace(id, parseBindings(body), 'replacing', actor);
  }

  @Post(RELATED_TO_PROJECT)
  @HttpCode(204)
  async relateToProject(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    await this.bindToProject(id, parseBindings(body), 'adding', actor);
  }

  @Patch(RELATED_TO_PROJECT)
  @HttpCode(204)
  async replaceInProject(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    await this.bindToProject(id, parseBindings(body), 'replacing', actor);
  }

  @Delete(RELATED_TO_WORKSPACE)
  @HttpCode(204)
  async removeFromWorkspace(
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.bindToWorkspace(id, parseBindings(body), 'removing', actor);
  }

  @Delete(RELATED_TO_PROJECT)
  @HttpCode(204)
  async removeFromProject(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    await this.bindToProject(id, parseBindings(body), 'removing', actor);
  }

  private bindToWorkspace(
    workspace: string,
    bindings: readonly Tag[],
    mode: BindingMode,
    actor: Actor,
  ): Promise<readonly BindingRow[]> {
    return this.bus.execute(new ChangeWorkspace('BindTags', { workspace, bindings, mode, actor }));
  }

  private bindToProject(
    id: string,
    bindings: readonly Tag[],
    mode: BindingMode,
    actor: Actor,
  ): Promise<readonly BindingRow[]> {
    return this.bus.execute(new ChangeProject('BindProjectTags', { id, data: { bindings, mode }, actor }));
  }
}

const renderBindings = (sent: readonly Tag[], bound: readonly BindingRow[]): Document => {
  const keys = [...new Set(sent.map(({ key }) => key))];
  const byKey = new Map(bound.map((binding) => [binding.key, binding]));
  return renderDocument(keys.flatMap((key) => byKey.get(key) ?? []).map(renderTagBinding));
};
