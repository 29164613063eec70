import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, may, type Actor } from '#access';
import { Database } from '#event-store';
import { notFound } from '#kernel';
import {
  document,
  linkTo,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  resourceBody,
  toOne,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import type { ProjectChanges } from './project.js';
import { CreateProject, ToProject } from './projects.handler.js';
import { listProjects, projectFor, type ProjectRow } from './projects.queries.js';

const settings = {
  'auto-destroy-activity-duration': z.string().nullish(),
  'default-execution-mode': z.enum(['remote', 'local', 'agent']).nullish(),
};
const createBody = resourceBody(
  'projects',
  z.object({ name: z.string(), description: z.string().nullish(), ...settings }),
);
const updateBody = resourceBody(
  'projects',
  z.object({ name: z.string().optional(), description: z.string().nullish(), ...settings }).default({}),
);

const settingsOf = (attributes: {
  'auto-destroy-activity-duration'?: string | null | undefined;
  'default-execution-mode'?: 'remote' | 'local' | 'agent' | null | undefined;
}): ProjectChanges => {
  const duration = attributes['auto-destroy-activity-duration'];
  const mode = attributes['default-execution-mode'];
  return {
    ...(duration === undefined ? {} : { autoDestroyActivityDuration: duration }),
    ...(mode === undefined ? {} : { defaultExecutionMode: mode }),
  };
};

export const projectResource = (row: ProjectRow, actor: Actor): Resource => ({
  id: row.id,
  type: 'projects',
  attributes: {
    name: row.name,
    description: row.description,
    'created-at': row.createdAt,
    'is-unified': false,
    'workspace-count': row.workspaceCount,
    'team-count': 0,
    'stack-count': 0,
    'auto-destroy-activity-duration': row.settings.autoDestroyActivityDuration,
    'default-execution-mode': row.settings.defaultExecutionMode,
    'setting-overwrites': {
      'default-execution-mode': row.settings.defaultExecutionMode !== null,
      'default-agent-pool': row.settings.defaultAgentPoolId !== null,
    },
    permissions: {
      'can-read': true,
      'can-update': may(actor, 'update-project', row),
      'can-destroy': may(actor, 'delete-project', row) && !row.isDefault,
      'can-create-workspace': may(actor, 'create-workspace', row),
      'can-move-workspace': may(actor, 'move-workspace', row),
      'can-move-stack': false,
      'can-deploy-no-code-modules': false,
      'can-read-teams': may(actor, 'read-project-access', row),
      'can-manage-tags': may(actor, 'update-project', row),
      'can-manage-teams': may(actor, 'manage-project-access', row),
      'can-manage-in-hcp': false,
    },
  },
  relationships: {
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    'default-agent-pool': toOne('agent-pools', row.settings.defaultAgentPoolId),
    'tag-bindings': linkTo(`/api/v2/projects/${row.id}/tag-bindings`),
    'effective-tag-bindings': linkTo(`/api/v2/projects/${row.id}/effective-tag-bindings`),
  },
  links: { self: `/api/v2/projects/${row.id}` },
});

@Controller('api/v2')
export class ProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/projects')
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = pageOf(query);
    const names = (parameter(query, 'filter[names]') ?? '').split(',').filter((one) => one !== '');
    const search = parameter(query, 'q');
    const { rows, total } = await listProjects(this.database, actor, name, page, { names, search });
    const data = rows.map((row) => projectResource(row, actor));
    return pageDocument(data, page, total, request.url);
  }

  @Post('organizations/:organization/projects')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes } = parseBody(createBody, body).data;
    const { name, description } = attributes;
    const data = { name, description: description ?? null, settings: settingsOf(attributes) };
    const command = { type: 'CreateProject', data } as const;
    return document(projectResource(await this.bus.execute(new CreateProject(organization, command, actor)), actor));
  }

  @Get('projects/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(projectResource(await projectFor(this.database, actor, 'read-project', id), actor));
  }

  @Patch('projects/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body).data;
    const { name, description } = attributes;
    const changes: ProjectChanges = {
      ...settingsOf(attributes),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
    };
    const command = { type: 'UpdateProject', data: { changes } } as const;
    const row = await this.bus.execute(new ToProject(id, 'update-project', command, actor));
    if (!row) throw notFound();
    return document(projectResource(row, actor));
  }

  @Delete('projects/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ToProject(id, 'delete-project', { type: 'DeleteProject' }, actor));
  }
}
