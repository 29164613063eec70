import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import type { Document, QueryParameters as QueryOf } from '#api/json-api';
import { TOOL_VERSION_FILTERS, ToolVersions } from './tool-versions.service.js';

/** The releases of Terraform and OpenTofu that workspaces may choose, for site administrators. */
@Controller('api/v2/admin/terraform-versions')
export class TerraformVersionsController {
  constructor(private readonly versions: ToolVersions) {}

  @Get()
  @ConfigureRoute({ filters: TOOL_VERSION_FILTERS })
  list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.list('terraform', query, request.publicUrl, actor);
  }

  @Post()
  create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.create('terraform', body, actor);
  }

  @Get(':id')
  show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.show('terraform', id, actor);
  }

  @Patch(':id')
  update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.versions.update('terraform', id, body, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.versions.destroy('terraform', id, actor);
  }
}
