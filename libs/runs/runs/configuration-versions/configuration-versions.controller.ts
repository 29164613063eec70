import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { notFound } from '#platform/kernel';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  parseBody,
  resourceBody,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { ConfigurationLinks } from './configuration-version.links.js';
import { renderConfigurationVersion } from './configuration-versions.document.js';
import { ChangeConfigurationVersion } from './configuration-versions.handler.js';
import {
  findConfigurationVersion,
  listConfigurationVersions,
  type ConfigurationVersionTarget,
} from './configuration-versions.queries.js';
import { createConfigurationReadEvents, type ConfigurationRead } from '../reads.events.js';

/** Versions are not created from commits yet, so `ingress_attributes` includes nothing. */
export const INCLUDES = ['ingress_attributes', 'run'] as const;

const flag = z.boolean().nullish();

/** The request body is optional. */
export const createBody = resourceBody(
  'configuration-versions',
  z.object({ 'auto-queue-runs': flag, speculative: flag, provisional: flag }).optional(),
)
  .partial()
  .default({});

@Controller('api/v2')
export class ConfigurationVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly links: ConfigurationLinks,
    private readonly reads: ReadRecorder,
  ) {}

  @Post('workspaces/:id/configuration-versions')
  async create(@Param('id') workspace: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data ?? {};
    const newVersion = {
      workspace,
      autoQueueRuns: attributes?.['auto-queue-runs'] ?? true,
      speculative: attributes?.speculative ?? false,
      provisional: attributes?.provisional ?? false,
    };
    const row = await this.bus.execute(
      new ChangeConfigurationVersion('CreateConfigurationVersion', { newVersion, actor }),
    );
    return renderDocument(renderConfigurationVersion(row, this.links.upload(row.id)));
  }

  @Get('workspaces/:id/configuration-versions')
  async list(
    @Param('id') workspace: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const included = this.included(query);
    const page = parsePage(query);
    const { rows, total } = await listConfigurationVersions(this.database, actor, workspace, page);
    const data = rows.map((row) => renderConfigurationVersion(row));
    return renderPage(data, page, total, request.publicUrl, included);
  }

  @Get('configuration-versions/:id')
  show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.showOne({ id }, query, actor);
  }

  @Get('runs/:id/configuration-version')
  showOfRun(@Param('id') run: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.showOne({ run }, query, actor);
  }

  /** The commit of a version: null for uploaded versions. */
  @Get('configuration-versions/:id/ingress-attributes')
  async ingressAttributes(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<never> {
    await findConfigurationVersion(this.database, actor, { id });
    throw notFound('The configuration version was not made of a commit');
  }

  @Post('configuration-versions/:id/actions/archive')
  @HttpCode(202)
  async archive(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.change(id, 'ArchiveConfiguration', actor);
  }

  @Post('configuration-versions/:id/actions/soft_delete_backing_data')
  @HttpCode(200)
  softDelete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, 'SoftDeleteConfiguration', actor);
  }

  @Post('configuration-versions/:id/actions/restore_backing_data')
  @HttpCode(200)
  restore(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, 'RestoreConfiguration', actor);
  }

  @Post('configuration-versions/:id/actions/permanently_delete_backing_data')
  @HttpCode(200)
  deletePermanently(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, 'DeleteConfigurationPermanently', actor);
  }

  private async showOne(target: ConfigurationVersionTarget, query: QueryOf, actor: Actor): Promise<Document> {
    const included = this.included(query);
    const row = await findConfigurationVersion(this.database, actor, target);
    await this.reads.record<ConfigurationRead>(actor, row.organization, ...createConfigurationReadEvents([row]));
    return renderDocument(renderConfigurationVersion(row), included);
  }

  private async change(
    id: string,
    type:
      'ArchiveConfiguration' | 'SoftDeleteConfiguration' | 'RestoreConfiguration' | 'DeleteConfigurationPermanently',
    actor: Actor,
  ): Promise<Document> {
    const row = await this.bus.execute(new ChangeConfigurationVersion(type, { id, actor }));
    if (!row) throw notFound();
    return renderDocument(renderConfigurationVersion(row));
  }

  private included(query: QueryOf): [] | undefined {
    return parseInclude(query, INCLUDES) ? [] : undefined;
  }
}
