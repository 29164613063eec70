import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#kernel';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import {
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  shownOf,
  toOne,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import { tagId } from './tag-bindings.document.js';
import { listTags, tagsOfOrganization, tagsOfWorkspace, type TagRow } from './tags.queries.js';
import { ToWorkspace } from './to-workspace.js';
import { namesOf, tagsBody } from './workspaces.body.js';
import { workspaceFor } from './workspaces.queries.js';

const tagResource = (tag: TagRow): Resource => ({
  id: tagId(tag.organization, tag.name),
  type: 'tags',
  attributes: { name: tag.name, 'created-at': tag.createdAt, 'instance-count': tag.instanceCount },
  relationships: { organization: toOne('organizations', tag.organizationName) },
});

/** Flat tags of workspaces. */
@Controller('api/v2')
export class TagsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/tags')
  async listAll(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const filter = { search: parameter(query, 'q'), without: parameter(query, 'filter[exclude][taggable][id]') };
    const { rows, total } = await listTags(this.database, actor, organization, page, filter);
    return pageDocument(rows.map(tagResource), page, total, request.url);
  }

  @Get('workspaces/:id/relationships/tags')
  async list(
    @Param('id') id: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const search = parameter(query, 'name')?.toLowerCase() ?? '';
    const all = await tagsOfWorkspace(this.database, actor, id);
    const tags = all.filter(({ name }) => name.toLowerCase().includes(search));
    const shown = shownOf(tags, page);
    return pageDocument(shown.map(tagResource), page, tags.length, request.url);
  }

  @Post('workspaces/:id/relationships/tags')
  @HttpCode(204)
  async add(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const names = await this.named(id, body, actor);
    await this.bus.execute(new ToWorkspace({ id }, { type: 'AddTags', data: { names } }, actor));
  }

  @Delete('workspaces/:id/relationships/tags')
  @HttpCode(204)
  async remove(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<void> {
    const names = await this.named(id, body, actor);
    await this.bus.execute(new ToWorkspace({ id }, { type: 'RemoveTags', data: { names } }, actor));
  }

  /** Entries are given by id, which must exist in the organization, or by name. */
  private async named(id: string, body: unknown, actor: Actor): Promise<readonly string[]> {
    const { data } = parseBody(tagsBody, body);
    const names = namesOf(data, '/data');
    if (data.every(({ attributes: tag }) => tag)) return names;
    const { organization } = await workspaceFor(this.database, actor, 'read-workspace', { id });
    const known = new Map(
      (await tagsOfOrganization(this.database, organization)).map((name) => [tagId(organization, name), name]),
    );
    const nameOf = (tag: string): string => {
      const name = known.get(tag);
      if (name === undefined) throw notFound(`Tag ${tag} not found`);
      return name;
    };
    // In the order of the request, which is the one that they are shown in (clients.md §3).
    return data.flatMap(({ id: tag, attributes: given }) => given?.name ?? (tag === undefined ? [] : nameOf(tag)));
  }
}
