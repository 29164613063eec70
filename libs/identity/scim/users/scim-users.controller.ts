import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Inject,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import { Database } from '#platform/postgres';
import { ConfigureRoutes, CurrentActor, type Actor } from '#api/access';
import { parseScimBody, scimUserBody, scimPatchBody } from '../protocol/scim-bodies.js';
import {
  getFilterText,
  parseScimPage,
  pickAttributes,
  renderScimList,
  type ScimParameters,
  type ScimResource,
} from '../protocol/scim-list.js';
import { SCIM_BASE_URL } from '../protocol/scim-protocol.controller.js';
import { SCIM_JSON } from '../protocol/scim-schemas.js';
import { renderScimUser } from './scim-users.document.js';
import { ChangeScimUser } from './scim-users.handler.js';
import { findScimUser, listScimUsers, type ScimUserRow } from './scim-users.queries.js';

@Controller('scim/v2/Users')
@ConfigureRoutes({ isScim: true })
export class ScimUsersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    @Inject(SCIM_BASE_URL) private readonly baseUrl: string,
  ) {}

  @Get()
  @Header('content-type', SCIM_JSON)
  async list(@Query() query: ScimParameters, @CurrentActor() actor: Actor): Promise<ScimResource> {
    const page = parseScimPage(query);
    const { rows, total } = await listScimUsers(this.database, actor, getFilterText(query), page);
    return renderScimList(
      rows.map((row) => this.render(row, query)),
      total,
      page.startIndex,
    );
  }

  @Post()
  @Header('content-type', SCIM_JSON)
  async create(
    @Query() query: ScimParameters,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScimResource> {
    const input = parseScimBody(scimUserBody, body);
    const row = await this.bus.execute(new ChangeScimUser('CreateScimUser', { input, actor }));
    void reply.header('location', `${this.baseUrl}/Users/${row.id}`);
    return this.render(row, query);
  }

  @Get(':id')
  @Header('content-type', SCIM_JSON)
  async show(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    return this.render(await findScimUser(this.database, actor, id), query);
  }

  @Put(':id')
  @Header('content-type', SCIM_JSON)
  async replace(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    const input = parseScimBody(scimUserBody, body);
    return this.render(await this.bus.execute(new ChangeScimUser('ReplaceScimUser', { id, input, actor })), query);
  }

  @Patch(':id')
  @Header('content-type', SCIM_JSON)
  async patch(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    const { Operations: operations } = parseScimBody(scimPatchBody, body);
    return this.render(await this.bus.execute(new ChangeScimUser('PatchScimUser', { id, operations, actor })), query);
  }

  @Delete(':id')
  @HttpCode(204)
  async delete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeScimUser('DeleteScimUser', { id, actor }));
  }

  private render(row: ScimUserRow, query: ScimParameters): ScimResource {
    return pickAttributes(renderScimUser(row, this.baseUrl), query);
  }
}
