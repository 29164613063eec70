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
  type Resource,
} from '#api/json-api';
import { ReadRecorder } from '#api/reads';
import { ConfigurationLinks } from './configuration-version.links.js';
import {
  renderCommits,
  renderConfigurationVersion,
  renderIngressAttributes,
} from './configuration-versions.document.js';
import { ChangeConfigurationVersion } from './configuration-versions.handler.js';
import {
  findConfigurationVersion,
  listConfigurationVersions,
  type ConfigurationVersionRow,
  type ConfigurationVersionTarget,
} from './configuration-versions.queries.js';
import { createConfigurationReadEvents, type ConfigurationRead } from '../reads.events.js';

export const INCLUDES = ['ingress_attributes', 'run'] as const;

const flag = z.boolean().nullish();

/** The request body is optional. */
export const createBody = resourceBody(
  'configuration-versions',
  z.object({ 'auto-queue-runs': flag, speculative: flag, provisional: flag }).optional(),
)
  .partial()
  .default({});

const listIncluded = (
  rows: readonly ConfigurationVersionRow[],
  includes: ReadonlySet<(typeof INCLUDES)[number]>,
): Resource[] => (includes.has('ingress_attributes') ? renderCommits(rows) : []);

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
    const includes = parseInclude(query, INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listConfigurationVersions(this.database, actor, workspace, page);
    const data = rows.map((row) => renderConfigurationVersion(row));
    return renderPage(data, page, total, request.publicUrl, includes ? listIncluded(rows, includes) : undefined);
  }

  @Get('configuration-versions/:id')
  show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.showOne({ id }, query, actor);
  }

  @Get('runs/:id/configuration-version')
  showOfRun(@Param('id') run: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.showOne({ run }, query, actor);
  }

  @Get('configuration-versions/:id/ingress-attributes')
  async ingressAttributes(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const row = await findConfigurationVersion(this.database, actor, { id });
    if (!row.ingress) throw notFound('The configuration version was not made of a commit');
    return renderDocument(renderIngressAttributes(row, row.ingress));
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
    const includes = parseInclude(query, INCLUDES);
    const row = await findConfigurationVersion(this.database, actor, target);
    await this.reads.record<ConfigurationRead>(actor, row.organization, ...createConfigurationReadEvents([row]));
    return renderDocument(renderConfigurationVersion(row), includes ? listIncluded([row], includes) : undefined);
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
}
