import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { Clock, notFound, sql } from '#platform/kernel';
import {
  parseSort,
  getParameter,
  type QueryParameters,
  omitUndefined,
  resourceBody,
  omitNullish,
  toManyInput,
  parseToMany,
  fromAttributes,
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  parseBody,
  readRelated,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  SORTS,
  type AgentPoolFilter,
  findAgentPool,
  listAgentPools,
  listSitePools,
  type AgentPoolRow,
  type AgentPoolReader,
} from './agent-pools.queries.js';
import type { AgentPoolChanges } from './agent-pool.js';
import { AgentPoolWorkspaces } from './agent-pool-workspaces.port.js';
import { ChangeAgentPool } from './agent-pools.handler.js';
import { renderAgentPool } from './agent-pools.document.js';

const WORKSPACE = ['filter[allowed_workspaces][name]', 'filter[allowed-workspaces][name]'] as const;
const PROJECT = ['filter[allowed_projects][name]', 'filter[allowed-projects][name]'] as const;

/** The filters of the list of agent pools. Clients write them in two ways. */
const AGENT_POOL_FILTERS = [...WORKSPACE, ...PROJECT];

const getEither = (query: QueryParameters, [name, alias]: readonly [string, string]): string | undefined =>
  getParameter(query, name) ?? getParameter(query, alias);

const parseAgentPoolFilter = (query: QueryParameters): AgentPoolFilter => ({
  search: getParameter(query, 'q'),
  workspace: getEither(query, WORKSPACE),
  project: getEither(query, PROJECT),
  ...parseSort(query, SORTS),
});

const switches = { 'organization-scoped': z.boolean().nullish(), 'remote-runs-enabled': z.boolean().nullish() };

const relationships = z
  .object({
    'allowed-workspaces': toManyInput('workspaces'),
    'allowed-projects': toManyInput('projects'),
    'excluded-workspaces': toManyInput('workspaces'),
  })
  .optional();

export const createBody = resourceBody('agent-pools', z.object({ name: z.string(), ...switches }), relationships);
export const updateBody = resourceBody(
  'agent-pools',
  z.object({ name: z.string().optional(), ...switches }).default({}),
  relationships,
);

type AgentPoolUpdateData = Pick<z.infer<typeof updateBody>['data'], 'attributes' | 'relationships'>;

const toAgentPoolChanges = ({ attributes, relationships: related }: AgentPoolUpdateData): AgentPoolChanges => ({
  ...fromAttributes(omitNullish(attributes)),
  ...omitUndefined({
    allowedWorkspaces: parseToMany(related?.['allowed-workspaces']),
    allowedProjects: parseToMany(related?.['allowed-projects']),
    excludedWorkspaces: parseToMany(related?.['excluded-workspaces']),
  }),
});

/** Clients also request encryption keys of pools, which do not exist here. */
export const INCLUDES = ['workspaces', 'hyok_configurations'] as const;
const includes = (query: QueryOf): boolean => parseInclude(query, INCLUDES)?.has('workspaces') ?? false;

@Controller('api/v2')
export class AgentPoolsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly workspaces: AgentPoolWorkspaces,
  ) {}

  @Get('organizations/:organization/agent-pools')
  @ConfigureRoute({ filters: AGENT_POOL_FILTERS })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const withWorkspaces = includes(query);
    const page = parsePage(query);
    const filter = parseAgentPoolFilter(query);
    const { rows, total } = await listAgentPools(this.database, this.toReader(actor), organization, page, filter);
    const included = withWorkspaces ? await this.loadWorkspaces(rows, actor) : undefined;
    return renderPage(rows.map(renderAgentPool), page, total, request.publicUrl, included);
  }

  @Post('organizations/:organization/agent-pools')
  create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.createPool(organization, body, actor);
  }

  /** The pools of the site, for its administrators. */
  @Get('admin/agent-pools')
  async listOfSite(
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const withWorkspaces = includes(query);
    const page = parsePage(query);
    const { rows, total } = await listSitePools(this.database, this.toReader(actor), page, getParameter(query, 'q'));
    const included = withWorkspaces ? await this.loadWorkspaces(rows, actor) : undefined;
    return renderPage(rows.map(renderAgentPool), page, total, request.publicUrl, included);
  }

  @Post('admin/agent-pools')
  createOfSite(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return this.createPool(null, body, actor);
  }

  @Get('agent-pools/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const withWorkspaces = includes(query);
    const row = await findAgentPool(this.database, this.toReader(actor), 'read-agent-pools', id);
    return renderDocument(renderAgentPool(row), withWorkspaces ? await this.loadWorkspaces([row], actor) : undefined);
  }

  @Patch('agent-pools/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toAgentPoolChanges(parseBody(updateBody, body).data);
    const row = await this.bus.execute(new ChangeAgentPool('UpdateAgentPool', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderAgentPool(row));
  }

  @Delete('agent-pools/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeAgentPool('DeleteAgentPool', { id, actor }));
  }

  /** Creates a pool of the organization with this name, or a pool of the site. */
  private async createPool(organization: string | null, body: unknown, actor: Actor): Promise<Document> {
    const input = parseBody(createBody, body).data;
    const settings = { ...toAgentPoolChanges(input), name: input.attributes.name };
    const row = await this.bus.execute(new ChangeAgentPool('CreateAgentPool', { organization, settings, actor }));
    return renderDocument(renderAgentPool(row));
  }

  private loadWorkspaces(rows: readonly AgentPoolRow[], actor: Actor): Promise<Resource[]> {
    const ids = rows.flatMap(({ workspaces }) => workspaces);
    return readRelated(
      this.database,
      ids.length > 0 ? [this.workspaces.related(sql`${ids}::text[]`, actor)] : [],
      actor,
    );
  }

  private toReader(actor: Actor): AgentPoolReader {
    return { actor, now: this.clock.now() };
  }
}
