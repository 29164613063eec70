import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Put,
  Query,
  UseFilters,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Database } from '#postgres';
import { ConfigureRoutes, CurrentActor, type Actor } from '#access';
import { parseScimBody, scimGroupBody, scimPatchBody } from '../protocol/scim-bodies.js';
import {
  getFilterText,
  parseScimPage,
  pickAttributes,
  renderScimList,
  type ScimParameters,
  type ScimResource,
} from '../protocol/scim-list.js';
import { ScimRefusalFilter } from '../protocol/scim-refusal.filter.js';
import { SCIM_JSON } from '../protocol/scim-schemas.js';
import { renderScimGroup } from './scim-groups.document.js';
import { ChangeScimGroup } from './scim-groups.commands.js';
import { findScimGroup, listScimGroups } from './scim-groups.queries.js';

@Controller('scim/v2/Groups')
@UseFilters(ScimRefusalFilter)
@ConfigureRoutes({ isScim: true })
export class ScimGroupsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @Header('content-type', SCIM_JSON)
  async list(@Query() query: ScimParameters, @CurrentActor() actor: Actor): Promise<ScimResource> {
    const page = parseScimPage(query);
    const { rows, total } = await listScimGroups(this.database, actor, getFilterText(query), page);
    const resources = rows.map((row) => pickAttributes(renderScimGroup(row), query));
    return renderScimList(resources, total, page.startIndex);
  }

  @Post()
  @Header('content-type', SCIM_JSON)
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return renderScimGroup(
      await this.bus.execute(
        new ChangeScimGroup('CreateScimGroup', { input: parseScimBody(scimGroupBody, body), actor }),
      ),
    );
  }

  @Get(':id')
  @Header('content-type', SCIM_JSON)
  async show(
    @Param('id') id: string,
    @Query() query: ScimParameters,
    @CurrentActor() actor: Actor,
  ): Promise<ScimResource> {
    return pickAttributes(renderScimGroup(await findScimGroup(this.database, actor, id)), query);
  }

  @Put(':id')
  @Header('content-type', SCIM_JSON)
  async replace(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return renderScimGroup(
      await this.bus.execute(
        new ChangeScimGroup('ReplaceScimGroup', { id, input: parseScimBody(scimGroupBody, body), actor }),
      ),
    );
  }

  @Patch(':id')
  @Header('content-type', SCIM_JSON)
  async patch(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<ScimResource> {
    const { Operations } = parseScimBody(scimPatchBody, body);
    return renderScimGroup(
      await this.bus.execute(new ChangeScimGroup('PatchScimGroup', { id, operations: Operations, actor })),
    );
  }

  @Delete(':id')
  @HttpCode(204)
  async delete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeScimGroup('DeleteScimGroup', { id, actor }));
  }
}
