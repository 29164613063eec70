import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  ignoredMember,
  parseToMany,
  resourceBody,
  text,
  toManyInput,
  toOneInput,
  unsupportedMember,
  parseBody,
  renderDocument,
  renderList,
  type Document,
  type PageRequest,
} from '#api/json-api';
import { CurrentActor, type Actor } from '#api/access';
import { DESTINATION_TYPES, MAX_TOKEN_CHARACTERS, MAX_URL_CHARACTERS } from './destinations.js';
import {
  type NewNotificationConfiguration,
  type NotificationConfigurationUpdate,
  ChangeNotificationConfiguration,
} from './notification-configurations.commands.js';
import { TRIGGERS } from './triggers.js';
import { findConfiguration, listConfigurations } from './notification-configurations.view.js';
import { NotificationConfigurationsRenderer } from './notification-configurations.renderer.js';
import type { SubscribableReference } from './subscribables.queries.js';

/** The vendor's documentation has the singular, go-tfe sends the plural. */
const TYPES = ['notification-configurations', 'notification-configuration'];

/** ADR 64. */
const NO_ADDRESSES = 'e-mails are sent to members of the organization, which relationships.users names';

const url = text(MAX_URL_CHARACTERS);
const destinationType = z.enum(DESTINATION_TYPES);

const optional = {
  enabled: z.boolean().nullish(),
  token: text(MAX_TOKEN_CHARACTERS).nullish(),
  triggers: z.array(z.enum(TRIGGERS)).max(100, { error: 'too many, at most 100 of them' }).nullish(),
  'email-addresses': unsupportedMember(NO_ADDRESSES),
};

const users = toManyInput('users').optional();

export const createBody = resourceBody(
  TYPES,
  z.object({ name: z.string(), 'destination-type': destinationType, url: url.nullish(), ...optional }),
  z.object({ users, subscribable: ignoredMember('the path names the owner', toOneInput) }).nullish(),
);

export const updateBody = resourceBody(
  TYPES,
  z
    .object({
      name: z.string().nullish(),
      'destination-type': destinationType.nullish(),
      url: url.nullish(),
      ...optional,
    })
    .default({}),
  z.object({ users }).nullish(),
);

/** An empty token is none. */
const toToken = (token: string | null): string | null => (token === '' ? null : token);

const toNewConfiguration = ({
  attributes,
  relationships,
}: z.infer<typeof createBody>['data']): NewNotificationConfiguration => ({
  name: attributes.name,
  destinationType: attributes['destination-type'],
  url: attributes.url ?? '',
  token: toToken(attributes.token ?? null),
  users: parseToMany(relationships?.users) ?? [],
  triggers: attributes.triggers ?? [],
  enabled: attributes.enabled ?? false,
});

const toConfigurationUpdate = ({
  attributes,
  relationships,
}: z.infer<typeof updateBody>['data']): NotificationConfigurationUpdate => ({
  name: attributes.name ?? undefined,
  destinationType: attributes['destination-type'] ?? undefined,
  url: attributes.url ?? undefined,
  users: parseToMany(relationships?.users),
  token: attributes.token === undefined ? undefined : toToken(attributes.token),
  triggers: attributes.triggers ?? undefined,
  enabled: attributes.enabled ?? undefined,
});

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
