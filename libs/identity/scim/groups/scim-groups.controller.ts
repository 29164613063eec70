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
import {
  type ScimResource,
  getFilterText,
  parseAttributes,
  parseScimPage,
  pickAttributes,
  renderScimList,
  type ScimParameters,
} from '../protocol/scim-list.js';
import { GROUP_SCHEMA, MAX_BODY_BYTES, SCIM_JSON } from '../protocol/scim-schemas.js';
import { parseScimBody, scimGroupBody, scimPatchBody } from '../protocol/scim-bodies.js';
import { SCIM_BASE_URL } from '../protocol/scim-protocol.controller.js';
import { type ScimGroupRow, findScimGroup, listScimGroups } from './scim-groups.queries.js';
import { ChangeScimGroup } from './scim-groups.handler.js';

/** Renders a group. `baseUrl` is the address of SCIM. */
const renderScimGroup = (row: ScimGroupRow, baseUrl: string): ScimResource => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.externalId === null ? {} : { externalId: row.externalId }),
  displayName: row.displayName,
  ...(row.members === null ? {} : { members: row.members }),
  meta: {
    resourceType: 'Group',
    created: row.createdAt,
    lastModified: row.updatedAt,
    location: `${baseUrl}/Groups/${row.id}`,
  },
});

@Controller('scim/v2/Groups')
@ConfigureRoutes({ isScim: true, bodyLimit: MAX_BODY_BYTES })
export class ScimGroupsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    @Inject(SCIM_BASE_URL) private readonly baseUrl: string,
  ) {}

  @Get()
  @Header('content-type', SCIM_JSON)
  async list(@Query() query: ScimParameters, @CurrentActor() actor: Actor): Promise<ScimResource> {
    const page = parseScimPage(query);
    const withMembers = parseAttributes(query)('members');
    const list = { filter: getFilterText(query), page, withMembers };
    const { rows, total } = await listScimGroups(this.database, actor, list);
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
    const input = parseScimBody(scimGroupBody, body);
    const row = await this.bus.execute(new ChangeScimGroup('CreateScimGroup', { input, actor }));
    void reply.header('location', `${this.baseUrl}/Groups/${row.id}`);
    return this.render(row, query);
  }

  @Get(':id')
  @Header('content-type', SCIM_JSON)
  async show(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    const withMembers = parseAttributes(query)('members');
    return this.render(await findScimGroup(this.database, actor, id, withMembers), query);
  }

  @Put(':id')
  @Header('content-type', SCIM_JSON)
  async replace(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    const input = parseScimBody(scimGroupBody, body);
    return this.render(await this.bus.execute(new ChangeScimGroup('ReplaceScimGroup', { id, input, actor })), query);
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
    return this.render(await this.bus.execute(new ChangeScimGroup('PatchScimGroup', { id, operations, actor })), query);
  }

  @Delete(':id')
  @HttpCode(204)
  async delete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeScimGroup('DeleteScimGroup', { id, actor }));
  }

  private render(row: ScimGroupRow, query: ScimParameters): ScimResource {
    return pickAttributes(renderScimGroup(row, this.baseUrl), query);
  }
}
