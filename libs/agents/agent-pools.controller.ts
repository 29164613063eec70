import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { badRequest, Clock, notFound } from '#kernel';
import {
  document,
  includesOf,
  linkTo,
  pageDocument,
  pageOf,
  parameter,
  parseBody,
  resourceBody,
  toMany,
  toOne,
  typeOf,
  type Document,
  type Query as QueryOf,
  type Resource,
} from '#json-api';
import type { AgentPoolChanges } from './agent-pool.js';
import { CreateAgentPool, ToAgentPool } from './agent-pools.handler.js';
import {
  agentPoolFor,
  listAgentPools,
  type AgentPoolFilter,
  type AgentPoolRow,
  type Asking,
  type Sort,
} from './agent-pools.queries.js';

/** Each of them is held while the list is written. */
const LISTED_AT_MOST = 500;

const listOf = (type: string) =>
  z
    .object({
      data: z
        .array(z.object({ type: typeOf(type), id: z.string() }))
        .max(LISTED_AT_MOST)
        .nullish(),
    })
    .optional();

const relationships = z
  .object({
    'allowed-workspaces': listOf('workspaces'),
    'allowed-projects': listOf('projects'),
    'excluded-workspaces': listOf('workspaces'),
  })
  .optional();

const createBody = resourceBody(
  'agent-pools',
  z.object({ name: z.string(), 'organization-scoped': z.boolean().nullish() }),
  relationships,
);
const updateBody = resourceBody(
  'agent-pools',
  z.object({ name: z.string().optional(), 'organization-scoped': z.boolean().nullish() }).default({}),
  relationships,
);

type Given = Pick<z.infer<typeof updateBody>['data'], 'attributes' | 'relationships'>;

/** Ids of a list that is given; `null` clears it like `[]`. */
const idsIn = (list: z.infer<ReturnType<typeof listOf>>): readonly string[] | undefined =>
  list?.data === undefined ? undefined : (list.data ?? []).map(({ id }) => id);

const changesIn = ({ attributes, relationships: given }: Given): AgentPoolChanges => {
  const { name, 'organization-scoped': scoped } = attributes;
  const allowedWorkspaces = idsIn(given?.['allowed-workspaces']);
  const allowedProjects = idsIn(given?.['allowed-projects']);
  const excludedWorkspaces = idsIn(given?.['excluded-workspaces']);
  return {
    ...(name === undefined ? {} : { name }),
    ...(typeof scoped === 'boolean' ? { organizationScoped: scoped } : {}),
    ...(allowedWorkspaces ? { allowedWorkspaces } : {}),
    ...(allowedProjects ? { allowedProjects } : {}),
    ...(excludedWorkspaces ? { excludedWorkspaces } : {}),
  };
};

const SORTS: readonly Sort[] = ['name', 'created-at'];

const filterOf = (query: QueryOf): AgentPoolFilter => {
  const text = parameter(query, 'sort') || 'name';
  const descending = text.startsWith('-');
  const sort = SORTS.find((known) => known === (descending ? text.slice(1) : text));
  if (!sort) throw badRequest(`sort must be one of ${SORTS.join(', ')}, with or without a leading -`, 'sort');
  return {
    search: parameter(query, 'q'),
    workspace: parameter(query, 'filter[allowed_workspaces][name]'),
    project: parameter(query, 'filter[allowed_projects][name]'),
    sort,
    descending,
  };
};

const agentPoolResource = (row: AgentPoolRow): Resource => {
  const self = `/api/v2/agent-pools/${row.id}`;
  return {
    id: row.id,
    type: 'agent-pools',
    attributes: {
      name: row.name,
      'organization-scoped': row.organizationScoped,
      'created-at': row.createdAt,
      'agent-count': row.agentCount,
    },
    relationships: {
      organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
      agents: linkTo(`${self}/agents`),
      'authentication-tokens': linkTo(`${self}/authentication-tokens`),
      workspaces: toMany(
        'workspaces',
        row.workspaces.map(({ id }) => id),
      ),
      'allowed-workspaces': toMany('workspaces', row.allowedWorkspaces),
      'allowed-projects': toMany('projects', row.allowedProjects),
      'excluded-workspaces': toMany('workspaces', row.excludedWorkspaces),
    },
    links: { self },
  };
};

const workspacesOf = (rows: readonly AgentPoolRow[]): Resource[] =>
  rows.flatMap(({ workspaces }) =>
    workspaces.map(({ id, name }) => ({
      id,
      type: 'workspaces',
      attributes: { name },
      links: { self: `/api/v2/workspaces/${id}` },
    })),
  );

const includes = (query: QueryOf): boolean => includesOf(query, ['workspaces'])?.has('workspaces') ?? false;

@Controller('api/v2')
export class AgentPoolsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  @Get('organizations/:organization/agent-pools')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const withWorkspaces = includes(query);
    const page = pageOf(query);
    const filter = filterOf(query);
    const { rows, total } = await listAgentPools(this.database, this.asking(actor), organization, page, filter);
    return pageDocument(
      rows.map(agentPoolResource),
      page,
      total,
      request.url,
      withWorkspaces ? workspacesOf(rows) : undefined,
    );
  }

  @Post('organizations/:organization/agent-pools')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const given = parseBody(createBody, body).data;
    const data = { ...changesIn(given), name: given.attributes.name };
    const command = new CreateAgentPool(organization, { type: 'CreateAgentPool', data }, actor);
    return document(agentPoolResource(await this.bus.execute(command)));
  }

  @Get('agent-pools/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const withWorkspaces = includes(query);
    const row = await agentPoolFor(this.database, this.asking(actor), 'read-agent-pools', id);
    return document(agentPoolResource(row), withWorkspaces ? workspacesOf([row]) : undefined);
  }

  @Patch('agent-pools/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = changesIn(parseBody(updateBody, body).data);
    const row = await this.bus.execute(new ToAgentPool(id, { type: 'UpdateAgentPool', data: { changes } }, actor));
    if (!row) throw notFound();
    return document(agentPoolResource(row));
  }

  @Delete('agent-pools/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ToAgentPool(id, { type: 'DeleteAgentPool' }, actor));
  }

  private asking(actor: Actor): Asking {
    return { actor, now: this.clock.now() };
  }
}
