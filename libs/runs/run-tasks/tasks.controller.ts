import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  omitNullish,
  parseBody,
  parseInclude,
  parsePage,
  readRelated,
  renderDocument,
  renderPage,
  resourceBody,
  text,
  unsupportedMember,
  type Document,
  type QueryParameters,
  type Resource,
} from '#api/json-api';
import { renderRunTask } from './run-tasks.document.js';
import { ChangeRunTask } from './run-tasks.handler.js';
import { findRunTask, listRunTasks, type RunTaskRow } from './run-tasks.view.js';
import { DEFAULT_STAGES, ENFORCEMENT_LEVELS, TASK_STAGES } from './task-stages.js';
import { RUN_TASK_INCLUDES, selectIncludedOfRunTasks } from './workspace-tasks.related.js';

const NO_AGENTS = 'the server itself sends the requests to run tasks';

const url = text(2_048);

const attributes = {
  category: z.literal('task', { error: 'must be task' }).nullish(),
  description: text(10_000).nullish(),
  enabled: z.boolean().nullish(),
  // Null is what responses show, so it keeps the key. An empty text removes it.
  'hmac-key': text(1_024).nullish(),
  'global-configuration': z
    .object({
      enabled: z.boolean().nullish(),
      stages: z.array(z.enum(TASK_STAGES)).max(20, { error: 'too many, at most 20 of them' }).nullish(),
      'enforcement-level': z.enum(ENFORCEMENT_LEVELS).nullish(),
    })
    .nullish(),
};

const relationships = z.object({ 'agent-pool': unsupportedMember(NO_AGENTS) }).nullish();

export const createRunTaskBody = resourceBody(
  'tasks',
  z.object({ name: z.string(), url, ...attributes }),
  relationships,
);

export const updateRunTaskBody = resourceBody(
  'tasks',
  z.object({ name: z.string().nullish(), url: url.nullish(), ...attributes }).default({}),
  relationships,
);

type RunTaskAttributes = z.infer<typeof updateRunTaskBody>['data']['attributes'];

const toChanges = ({ name, url: address, description, enabled, ...others }: RunTaskAttributes) => {
  const global = others['global-configuration'];
  return omitNullish({
    name,
    url: address,
    description,
    enabled,
    globalEnabled: global?.enabled,
    globalStages: global?.stages,
    globalEnforcementLevel: global?.['enforcement-level'],
  });
};

const DEFAULTS = {
  description: '',
  enabled: true,
  globalEnabled: false,
  globalEnforcementLevel: 'advisory',
} as const;

@Controller('api/v2')
export class TasksController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/tasks')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, RUN_TASK_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listRunTasks(this.database, actor, organization, page);
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderRunTask), page, total, request.publicUrl, included);
  }

  @Post('organizations/:organization/tasks')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes: input } = parseBody(createRunTaskBody, body).data;
    const globalStages = input['global-configuration']?.enabled ? DEFAULT_STAGES : [];
    const settings = { ...DEFAULTS, globalStages, ...toChanges(input), name: input.name, url: input.url };
    const key = input['hmac-key'] || null;
    const row = await this.bus.execute(new ChangeRunTask('CreateRunTask', { organization, settings, key, actor }));
    return renderDocument(renderRunTask(row));
  }

  @Get('tasks/:id')
  async show(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, RUN_TASK_INCLUDES);
    const row = await findRunTask(this.database, actor, 'read-organization', id);
    return renderDocument(renderRunTask(row), await this.loadIncluded([row], includes, actor));
  }

  @Patch('tasks/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes: input } = parseBody(updateRunTaskBody, body).data;
    const hmacKey = input['hmac-key'] ?? undefined;
    const key = hmacKey === '' ? null : hmacKey;
    const row = await this.bus.execute(
      new ChangeRunTask('UpdateRunTask', { id, changes: toChanges(input), key, actor }),
    );
    if (!row) throw notFound();
    return renderDocument(renderRunTask(row));
  }

  @Delete('tasks/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeRunTask('DeleteRunTask', { id, actor }));
  }

  private async loadIncluded(
    rows: readonly RunTaskRow[],
    includes: ReadonlySet<(typeof RUN_TASK_INCLUDES)[number]> | null,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (includes === null) return undefined;
    const ids = rows.flatMap(({ workspaceTasks }) => workspaceTasks);
    return readRelated(this.database, selectIncludedOfRunTasks(ids, includes, actor), actor);
  }
}
