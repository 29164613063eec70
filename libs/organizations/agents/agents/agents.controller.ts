import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { badRequest, Clock, formatTimestamp, parseTime } from '#platform/kernel';
import {
  renderDocument,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  resourceBody,
  text,
  toOne,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ACCEPTED_PHASES, AGENT_STATUSES, computeAgentStatus } from './agent.js';
import { ChangeAgent } from './agents.handler.js';
import { findAgent, listAgents, recordPing, type AgentRow } from './agents.queries.js';

export const registerBody = resourceBody('agents', z.object({ name: text(255).nullish() }).default({}));
/** The protocol of executors that this server speaks (docs/reference/executor-protocol.md). Minor versions add to it. */
const PROTOCOL_VERSION = /^1\.\d{1,4}$/;

const MAX_CAPACITY = 10_000;

export const executorBody = resourceBody(
  'agents',
  z.object({
    name: text(255).nullish(),
    'protocol-version': text(20)
      .regex(PROTOCOL_VERSION, 'must be 1.0, the version of the protocol of this server')
      .nullish(),
    version: text(50).nullish(),
    capacity: z.int().min(1).max(MAX_CAPACITY).nullish(),
    phases: z.array(z.enum(ACCEPTED_PHASES)).min(1).max(ACCEPTED_PHASES.length).nullish(),
  }),
);
export const pingBody = resourceBody('agents', z.object({ status: z.enum(AGENT_STATUSES) }));

const renderAgent = (row: AgentRow, now: Date): Resource => ({
  id: row.id,
  type: 'agents',
  attributes: {
    name: row.name,
    'ip-address': row.ipAddress,
    version: row.executor?.version ?? null,
    capacity: row.executor?.capacity ?? null,
    phases: row.executor?.phases ?? null,
    status: computeAgentStatus(row, now),
    'last-ping-at': row.lastPingAt,
    'created-at': row.createdAt,
  },
  relationships: { 'agent-pool': toOne('agent-pools', row.pool, `/api/v2/agent-pools/${row.pool}`) },
  links: { self: `/api/v2/agents/${row.id}` },
});

const SINCE = 'filter[last-ping-since]';

const parseSince = (query: QueryOf): string | undefined => {
  const text = getParameter(query, SINCE);
  if (!text) return undefined;
  const time = parseTime(text);
  if (time === undefined) throw badRequest(`${SINCE} must be an ISO 8601 time`, SINCE);
  return formatTimestamp(time);
};

@Controller('api/v2')
export class AgentsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  @Get('agent-pools/:pool/agents')
  @ConfigureRoute({ filters: [SINCE] })
  async list(
    @Param('pool') pool: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listAgents(this.database, actor, pool, page, parseSince(query));
    const now = this.clock.now();
    return renderPage(
      rows.map((row) => renderAgent(row, now)),
      page,
      total,
      request.publicUrl,
    );
  }

  @Get('agents/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.render(await findAgent(this.database, actor, id));
  }

  @Delete('agents/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeAgent('DeregisterAgent', { id, actor }));
  }

  /** Registers an executor in the pool of its token, which need not know the id of the pool. */
  @Post('agents')
  async registerExecutor(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { name, version, capacity, phases } = parseBody(executorBody, body).data.attributes;
    // Executors of others may say only some of it, which describes nothing that people could rely on.
    const executor = version && capacity && phases ? { version, capacity, phases: [...new Set(phases)] } : null;
    const registration = { pool: actor.id, name: name || null, executor, actor };
    return this.render(await this.bus.execute(new ChangeAgent('RegisterAgent', registration)));
  }

  /** Registers an agent with its pool's token. The vendor's public API has neither this route nor the ping. */
  @Post('agent-pools/:pool/agents')
  async register(@Param('pool') pool: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { name } = parseBody(registerBody, body ?? { data: {} }).data.attributes;
    return this.render(
      await this.bus.execute(new ChangeAgent('RegisterAgent', { pool, name: name || null, executor: null, actor })),
    );
  }

  @Post('agents/:id/actions/ping')
  @HttpCode(200)
  async ping(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { status } = parseBody(pingBody, body).data.attributes;
    const at = this.clock.now().toISOString();
    return this.render(await recordPing(this.database, actor, id, status, at));
  }

  private render(row: AgentRow): Document {
    return renderDocument(renderAgent(row, this.clock.now()));
  }
}
