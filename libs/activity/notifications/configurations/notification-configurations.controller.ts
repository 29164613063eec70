import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { parseBody, renderDocument, renderList, type Document, type PageRequest } from '#api/json-api';
import { Database } from '#platform/postgres';
import {
  createBody,
  toConfigurationUpdate,
  toNewConfiguration,
  updateBody,
} from './notification-configurations.body.js';
import { ChangeNotificationConfiguration } from './notification-configurations.commands.js';
import { findConfiguration, listConfigurations } from './notification-configurations.view.js';
import { NotificationConfigurationsRenderer } from './notification-configurations.renderer.js';
import type { SubscribableReference } from './subscribables.queries.js';

@Controller('api/v2')
export class NotificationConfigurationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly renderer: NotificationConfigurationsRenderer,
  ) {}

  @Get('workspaces/:id/notification-configurations')
  listOfWorkspace(
    @Param('id') workspace: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ workspace }, request, actor);
  }

  @Get('teams/:id/notification-configurations')
  listOfTeam(
    @Param('id') team: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ team }, request, actor);
  }

  @Get('organizations/:organization/notification-configurations')
  listOfOrganization(
    @Param('organization') organization: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.list({ organization }, request, actor);
  }

  @Post('workspaces/:id/notification-configurations')
  createOfWorkspace(
    @Param('id') workspace: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create({ workspace }, body, actor);
  }

  @Post('teams/:id/notification-configurations')
  createOfTeam(@Param('id') team: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.create({ team }, body, actor);
  }

  @Post('organizations/:organization/notification-configurations')
  createOfOrganization(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.create({ organization }, body, actor);
  }

  @Get('notification-configurations/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(this.renderer.render(await findConfiguration(this.database, actor, id)));
  }

  @Patch('notification-configurations/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const update = toConfigurationUpdate(parseBody(updateBody, body).data);
    const input = { id, update, actor };
    const row = await this.bus.execute(new ChangeNotificationConfiguration('UpdateNotificationConfiguration', input));
    if (!row) throw notFound();
    return renderDocument(this.renderer.render(row));
  }

  @Delete('notification-configurations/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeNotificationConfiguration('DeleteNotificationConfiguration', { id, actor }));
  }

  @Post('notification-configurations/:id/actions/verify')
  @HttpCode(200)
  async verify(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const command = new ChangeNotificationConfiguration('VerifyNotificationConfiguration', { id, actor });
    const row = await this.bus.execute(command);
    if (!row) throw notFound();
    return renderDocument(this.renderer.render(row));
  }

  private list(owner: SubscribableReference, request: FastifyRequest, actor: Actor): Promise<Document> {
    const list = (page: PageRequest) => listConfigurations(this.database, actor, owner, page);
    return renderList(request, list, (row) => this.renderer.render(row));
  }

  private async create(owner: SubscribableReference, body: unknown, actor: Actor): Promise<Document> {
    const settings = toNewConfiguration(parseBody(createBody, body).data);
    const input = { owner, settings, actor };
    const row = await this.bus.execute(new ChangeNotificationConfiguration('CreateNotificationConfiguration', input));
    return renderDocument(this.renderer.render(row));
  }
}
