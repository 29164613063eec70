import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { conflict, Clock } from '#platform/kernel';
import { upsertPing } from '#organizations/agents';
import { Database, pause } from '#platform/postgres';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  JSON_API,
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  resourceBody,
  toOne,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ChangeRun } from '../runs/runs.commands.js';
import type { RunRow } from '../runs/runs.queries.js';
import { RunRenderer } from '../runs/runs.renderer.js';
import { ExecutorWaits } from './executor-waits.service.js';
import {
  findLease,
  listPoolLeases,
  PHASES,
  QUEUED_STATUS,
  renewLease,
  type RunLease,
} from '../runs/run-leases.queries.js';

const MAX_WAIT_SECONDS = 30;
const waitSeconds = z.int().min(0).max(MAX_WAIT_SECONDS).nullish();

export const claimBody = resourceBody(
  'agents',
  z
    .object({ phases: z.array(z.enum(PHASES)).min(1).max(PHASES.length).nullish(), 'wait-seconds': waitSeconds })
    .default({}),
);
export const renewalBody = resourceBody('run-leases', z.object({ fence: z.int().min(1), 'wait-seconds': waitSeconds }));

const renderLease = (lease: RunLease): Resource => ({
  id: lease.run,
  type: 'run-leases',
  attributes: {
    'canceled-at': lease.cancelRequestedAt,
    'expires-at': lease.expiresAt,
    fence: lease.fence,
    'organization-name': lease.organization,
    'workspace-name': lease.workspaceName,
    phase: lease.status === 'applying' ? 'apply' : 'plan',
  },
  relationships: {
    agent: toOne('agents', lease.agent, `/api/v2/agents/${lease.agent}`),
    run: toOne('runs', lease.run, `/api/v2/runs/${lease.run}`),
    workspace: toOne('workspaces', lease.workspace, `/api/v2/workspaces/${lease.workspace}`),
  },
});

/** Aborts when the time is over, or when the client has closed its connection. */
const createWaitSignal = ({ raw }: FastifyReply, seconds: number | null | undefined): AbortSignal => {
  const closing = new AbortController();
  raw.once('close', () => closing.abort());
  return AbortSignal.any([closing.signal, AbortSignal.timeout((seconds ?? 0) * 1_000)]);
};

/** Proxies end a response that sends nothing for a while, often after 60 s. */
const KEEP_ALIVE_MS = 10_000;

/** Resolves to whether the work ends, in any way, within this time. */
const endsWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  const ending = new AbortController();
  const isLate = pause(ms, ending.signal).then(() => false);
  const hasEnded = work.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([hasEnded, isLate]);
  ending.abort();
  return result;
};

/**
 * Sends the headers and white space at once, and the document when it is ready. White space every few seconds keeps the
 * connection open. While it waits, the request is none of those that the server works on.
 */
const sendWhenReady = (reply: FastifyReply, read: () => Promise<Document>): void => {
  const body = async function* (): AsyncGenerator<string> {
    const document = read();
    for (let isReady = false; !isReady; isReady = await endsWithin(document, KEEP_ALIVE_MS)) yield ' ';
    yield JSON.stringify(await document);
  };
  void reply.status(200).header('content-type', JSON_API).send(Readable.from(body()));
};

/** The claims of runs by executors, and their renewal (docs/reference/executor-protocol.md). */
@Controller('api/v2')
export class RunLeasesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly renderer: RunRenderer,
    private readonly waits: ExecutorWaits,
  ) {}

  /** For people: what the executors of a pool work on. */
  @Get('agent-pools/:pool/run-leases')
  async list(
    @Param('pool') pool: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listPoolLeases(this.database, actor, pool, page);
    return renderPage(rows.map(renderLease), page, total, request.publicUrl);
  }

  @Post('agents/:id/actions/claim')
  @HttpCode(200)
  @ConfigureRoute({ isEndless: true })
  async claim(
    @Param('id') agent: string,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { phases, 'wait-seconds': seconds } = parseBody(claimBody, body ?? { data: {} }).data.attributes;
    const accepted = phases ?? PHASES;
    const claim = () => this.bus.execute(new ChangeRun('ClaimRun', { agent, phases: accepted, actor }));
    const wait = { pool: actor.id, statuses: accepted.map((phase) => QUEUED_STATUS[phase]) };
    const signal = createWaitSignal(reply, seconds);
    let run = await claim();
    sendWhenReady(reply, async () => {
      while (!run && (await this.waits.wait(wait, signal)) && !signal.aborted) run = await claim();
      return this.renderClaim(run, actor);
    });
  }

  @Post('runs/:id/actions/renew-lease')
  @HttpCode(200)
  @ConfigureRoute({ isEndless: true })
  async renew(
    @Param('id') run: string,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { fence, 'wait-seconds': seconds } = parseBody(renewalBody, body).data.attributes;
    const renew = () => renewLease(this.database, actor, { run, fence, now: this.clock.now() });
    const renewed = await renew();
    if (renewed) await this.database.rows(upsertPing(renewed.agent, 'busy', this.clock.now().toISOString()));
    if (!renewed) throw conflict(`The lease with the fence ${fence} has ended`);
    const signal = createWaitSignal(reply, seconds);
    sendWhenReady(reply, async () => {
      if (renewed.cancelRequestedAt !== null || !seconds) return renderDocument(renderLease(renewed));
      await this.waits.wait({ run, fence }, signal);
      const lease = await renew();
      return renderDocument(lease && renderLease(lease));
    });
  }

  private async renderClaim(run: RunRow | null, actor: Actor): Promise<Document> {
    // A user may have ended the run meanwhile.
    const lease = run && (await findLease(this.database, run.id));
    return lease ? renderDocument(renderLease(lease), [this.renderer.resource(run, actor)]) : renderDocument(null);
  }
}
