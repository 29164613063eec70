import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import type { Document, QueryParameters as QueryOf } from '#api/json-api';
import { TOOL_VERSION_FILTERS, ToolVersions } from './tool-versions.service.js';

/** The releases of OPA, for site administrators. */
@Controller('api/v2/admin/opa-versions')
export class OpaVersionsController {
  constructor(private readonly versions: ToolVersions) {}

  @Get()
  @ConfigureRoute({ filters: TOOL_VERSION_FILTERS })
  list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.list('opa', query, request.publicUrl, actor);
  }

  @Post()
  create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.create('opa', body, actor);
  }

  @Get(':id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.show('opa', id, actor);
  }

  @Patch(':id')
  update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.update('opa', id, body, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.versions.destroy('opa', id, actor);
  }
}
