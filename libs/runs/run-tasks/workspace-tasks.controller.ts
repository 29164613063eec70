import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  omitUndefined,
  parseBody,
  renderDocument,
  renderList,
  requiredToOne,
  resourceBody,
  type Document,
} from '#api/json-api';
import { renderWorkspaceTask } from './run-tasks.document.js';
import { DEFAULT_STAGES, ENFORCEMENT_LEVELS, TASK_STAGES } from './task-stages.js';
import { ChangeWorkspaceTask } from './workspace-tasks.handler.js';
import { findWorkspaceTask, listWorkspaceTasks } from './workspace-tasks.view.js';

const level = z.enum(ENFORCEMENT_LEVELS);
const stages = {
  stage: z.enum(TASK_STAGES).nullish(),
  stages: z.array(z.enum(TASK_STAGES)).max(20, { error: 'too many, at most 20 of them' }).nullish(),
};

export const createWorkspaceTaskBody = resourceBody(
  'workspace-tasks',
  z.object({ 'enforcement-level': level, ...stages }),
  z.object({ task: requiredToOne }),
);

export const updateWorkspaceTaskBody = resourceBody(
  'workspace-tasks',
  z.object({ 'enforcement-level': level.nullish(), ...stages }).default({}),
);

/** `stage` is the attribute of clients from before there were several stages. */
const toStages = (input: z.infer<typeof updateWorkspaceTaskBody>['data']['attributes']) =>
  input.stages ?? (input.stage ? [input.stage] : undefined);

@Controller('api/v2/workspaces/:workspace/tasks')
export class WorkspaceTasksController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  list(
    @Param('workspace') workspace: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderList(
      request,
      (page) => listWorkspaceTasks(this.database, actor, workspace, page),
      renderWorkspaceTask,
    );
  }

  @Post()
  async create(
    @Param('workspace') workspace: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes, relationships } = parseBody(createWorkspaceTaskBody, body).data;
    const settings = {
      enforcementLevel: attributes['enforcement-level'],
      stages: toStages(attributes) ?? DEFAULT_STAGES,
    };
    const task = relationships.task.data.id;
    const row = await this.bus.execute(
      new ChangeWorkspaceTask('CreateWorkspaceTask', { workspace, task, settings, actor }),
    );
    return renderDocument(renderWorkspaceTask(row));
  }

  @Get(':id')
  async show(
    @Param('workspace') workspace: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return renderDocument(
      renderWorkspaceTask(await findWorkspaceTask(this.database, actor, 'read-runs', { workspace, id })),
    );
  }

  @Patch(':id')
  async update(
    @Param('workspace') workspace: string,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(updateWorkspaceTaskBody, body).data;
    const changes = omitUndefined({
      enforcementLevel: attributes['enforcement-level'] ?? undefined,
      stages: toStages(attributes),
    });
    const row = await this.bus.execute(
      new ChangeWorkspaceTask('UpdateWorkspaceTask', { workspace, id, changes, actor }),
    );
    if (!row) throw notFound();
    return renderDocument(renderWorkspaceTask(row));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(
    @Param('workspace') workspace: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.bus.execute(new ChangeWorkspaceTask('DeleteWorkspaceTask', { workspace, id, actor }));
  }
}
