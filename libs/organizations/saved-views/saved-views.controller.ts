import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { can, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  omitUndefined,
  parseBody,
  renderDocument,
  renderList,
  resourceBody,
  toOne,
  type Document,
  type Resource,
} from '#api/json-api';
import { ChangeSavedView } from './saved-views.handler.js';
import { findSavedView, listSavedViews, type SavedViewRow } from './saved-views.view.js';

export const createBody = resourceBody(
  'saved-views',
  z.object({ name: z.string(), query: z.string(), shared: z.boolean().default(false) }),
);
export const updateBody = resourceBody(
  'saved-views',
  z.object({ name: z.string().optional(), query: z.string().optional(), shared: z.boolean().optional() }).default({}),
);

const renderSavedView = (row: SavedViewRow, actor: Actor): Resource => {
  const { id, organization, createdBy, name, query, shared, createdAt, updatedAt } = row;
  const scope = { organization, user: createdBy };
  return {
    id,
    type: 'saved-views',
    attributes: {
      'created-at': createdAt,
      name,
      permissions: {
        'can-update': can(actor, 'save-views', scope),
        'can-destroy': can(actor, 'delete-saved-view', scope),
      },
      query,
      shared,
      'updated-at': updatedAt,
    },
    relationships: { 'created-by': toOne('users', createdBy, `/api/v2/users/${createdBy}`) },
    links: { self: `/api/v2/saved-views/${id}` },
  };
};

/** An extension of Cadastre: filters, order and columns of the list of workspaces that people save for the console. */
@Controller('api/v2')
export class SavedViewsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/saved-views')
  list(
    @Param('organization') organization: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderList(
      request,
      (page) => listSavedViews(this.database, actor, organization, page),
      (row) => renderSavedView(row, actor),
    );
  }

  @Post('organizations/:organization/saved-views')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const content = parseBody(createBody, body).data.attributes;
    const row = await this.bus.execute(new ChangeSavedView('CreateSavedView', { organization, content, actor }));
    return renderDocument(renderSavedView(row, actor));
  }

  @Get('saved-views/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderSavedView(await findSavedView(this.database, actor, 'read-organization', id), actor));
  }

  @Patch('saved-views/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = omitUndefined(parseBody(updateBody, body).data.attributes);
    const row = await this.bus.execute(new ChangeSavedView('UpdateSavedView', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderSavedView(row, actor));
  }

  @Delete('saved-views/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeSavedView('DeleteSavedView', { id, actor }));
  }
}
