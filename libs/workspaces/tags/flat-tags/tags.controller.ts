import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  identifiersBody,
  renderList,
  LIST_BODY_BYTES,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  HistoryReader,
  toOne,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ChangeWorkspace } from '#workspaces/workspaces';
import { parseFlatTags, flatTagsInput, deriveTagId, parseTagsToRemove } from '#organizations/tag-bindings';
import { listWorkspaceTagsAsOf } from './tags-as-of.queries.js';
import { listTags, listWorkspaceTags, type TagRow } from './tags.queries.js';

const renderTag = (tag: TagRow): Resource => ({
  id: deriveTagId(tag.organization, tag.name),
  type: 'tags',
  attributes: { name: tag.name, 'created-at': tag.createdAt, 'instance-count': tag.instanceCount },
  relationships: { organization: toOne('organizations', tag.organizationName) },
});

export const tagsBody = identifiersBody('tags');
export const workspacesBody = identifiersBody('workspaces');

@Controller('api/v2')
export class TagsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly history: HistoryReader,
  ) {}

  @Get('organizations/:organization/tags')
  @ConfigureRoute({ filters: ['filter[exclude][taggable][id]'] })
  async listAll(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const filter = { search: getParameter(query, 'q'), without: getParameter(query, 'filter[exclude][taggable][id]') };
    return renderList(request, (page) => listTags(this.database, actor, name, page, filter), renderTag);
  }

  @Get('workspaces/:id/relationships/tags')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const name = getParameter(query, 'name');
    const past = await this.history.pointInTime(query, { workspace: id });
    const { rows, total } =
      past === null
        ? await listWorkspaceTags(this.database, actor, id, page, name)
        : await listWorkspaceTagsAsOf(this.database, actor, id, page, name, past);
    return renderPage(rows.map(renderTag), page, total, request.publicUrl);
  }

  @Post('workspaces/:id/relationships/tags')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  async add(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const tags = parseFlatTags(parseBody(flatTagsInput, body), '/data');
    await this.bus.execute(new ChangeWorkspace('AddTags', { target: { id }, data: { tags }, actor }));
  }

  @Delete('workspaces/:id/relationships/tags')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  async remove(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const tags = parseTagsToRemove(body);
    await this.bus.execute(new ChangeWorkspace('RemoveTags', { target: { id }, data: { tags }, actor }));
  }

  /** Deletes the tags from all workspaces. After an interruption, the same request deletes the rest. */
  @Delete('organizations/:organization/tags')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  async delete(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const tags = parseBody(tagsBody, body).data.map(({ id }) => id);
    await this.bus.execute(new ChangeWorkspace('DeleteTags', { organization, tags, actor }));
  }

  /** Adds the tag to all of the workspaces or to none. */
  @Post('tags/:id/relationships/workspaces')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  async addWorkspaces(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const workspaces = parseBody(workspacesBody, body).data.map((workspace) => workspace.id);
    await this.bus.execute(new ChangeWorkspace('TagWorkspaces', { tag: id, workspaces, actor }));
  }
}
