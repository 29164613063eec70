import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { badRequest, sql, unprocessable } from '#platform/kernel';
import { can, ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  getParameter,
  getSlowReadCaller,
  parseBody,
  parseInclude,
  parsePage,
  readRelated,
  renderDocument,
  renderPage,
  resourceBody,
  toOne,
  toOneInput,
  type Document,
  type ListPage,
  type PageRequest,
  type QueryParameters,
  type Resource,
} from '#api/json-api';
import { selectRelatedWorkspaces } from '#workspaces/workspaces';
import { ChangeRunTrigger } from './run-triggers.handler.js';
import {
  canReadSource,
  findRunTrigger,
  listOrganizationRunTriggers,
  listRunTriggers,
  TRIGGER_TYPES,
  type RunTriggerRow,
  type TriggerType,
} from './run-triggers.view.js';

export const createBody = resourceBody(
  'run-triggers',
  z.object({}).default({}),
  z.object({ sourceable: toOneInput }).optional(),
);

/** Names are null if the caller may not read the runs of that workspace. */
const renderRunTrigger = (row: RunTriggerRow, actor: Actor): Resource => ({
  id: row.id,
  type: 'run-triggers',
  attributes: {
    'created-at': row.createdAt,
    permissions: { 'can-destroy': can(actor, 'update-workspace', row) },
    'sourceable-name': canReadSource(actor, row) ? row.sourceName : null,
    'workspace-name': can(actor, 'read-runs', row) ? row.workspaceName : null,
  },
  relationships: {
    sourceable: toOne('workspaces', row.source, `/api/v2/workspaces/${row.source}`),
    workspace: toOne('workspaces', row.workspace, `/api/v2/workspaces/${row.workspace}`),
  },
  links: { self: `/api/v2/run-triggers/${row.id}` },
});

export const TRIGGER_INCLUDES = ['workspace', 'sourceable'] as const;

const TYPE_FILTER = 'filter[run-trigger][type]';

const parseType = (query: QueryParameters): TriggerType => {
  const text = getParameter(query, TYPE_FILTER);
  const type = TRIGGER_TYPES.find((each) => each === text);
  if (!type)
    throw badRequest(`${TYPE_FILTER}: must be one of ${TRIGGER_TYPES.join(', ')}, got "${text ?? ''}"`, TYPE_FILTER);
  return type;
};

type TriggerListRequest = { readonly query: QueryParameters; readonly request: FastifyRequest; readonly actor: Actor };

@Controller('api/v2')
export class RunTriggersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Post('workspaces/:id/run-triggers')
  async create(@Param('id') workspace: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const source = parseBody(createBody, body).data.relationships?.sourceable?.data?.id;
    if (!source) throw unprocessable("Sourceable can't be blank", '/data/relationships/sourceable');
    const row = await this.bus.execute(new ChangeRunTrigger('CreateRunTrigger', { workspace, source, actor }));
    return renderDocument(renderRunTrigger(row, actor));
  }

  @Get('workspaces/:id/run-triggers')
  @ConfigureRoute({ filters: [TYPE_FILTER] })
  list(
    @Param('id') workspace: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const type = parseType(query);
    return this.renderTriggers({ query, request, actor }, (page) =>
      listRunTriggers(this.database, actor, { workspace, type }, page),
    );
  }

  /** An extension of Cadastre, for pictures of all triggers. */
  @Get('organizations/:organization/run-triggers')
  listOfOrganization(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.renderTriggers({ query, request, actor }, (page) =>
      listOrganizationRunTriggers(this.database, actor, organization, page),
    );
  }

  @Get('run-triggers/:id')
  async show(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, TRIGGER_INCLUDES);
    const row = await findRunTrigger(this.database, actor, id);
    return renderDocument(renderRunTrigger(row, actor), await this.loadIncluded([row], includes, actor));
  }

  @Delete('run-triggers/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRunTrigger('DeleteRunTrigger', { id, actor }));
  }

  private async renderTriggers(
    { query, request, actor }: TriggerListRequest,
    list: (page: PageRequest) => Promise<ListPage<RunTriggerRow>>,
  ): Promise<Document> {
    const includes = parseInclude(query, TRIGGER_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await list(page);
    const data = rows.map((row) => renderRunTrigger(row, actor));
    return renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
  }

  /** Leaves out workspaces that the caller may not read. */
  private async loadIncluded(
    rows: readonly RunTriggerRow[],
    includes: ReadonlySet<string> | null,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const ids = rows.flatMap(({ workspace, source }) => [
      ...(includes.has('workspace') ? [workspace] : []),
      ...(includes.has('sourceable') ? [source] : []),
    ]);
    const related = ids.length > 0 ? [selectRelatedWorkspaces(sql`${[...new Set(ids)]}::text[]`, actor)] : [];
    return readRelated(this.database, related, getSlowReadCaller(actor, rows));
  }
}
