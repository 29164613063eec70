import type { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpCode,
  Param,
  Put,
  Query,
  Redirect,
  Req,
  StreamableFile,
  type HttpRedirectResponse,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound, sql } from '#platform/kernel';
import {
  ConfigureRoute,
  createSystemContext,
  CurrentActor,
  describeRequest,
  getClientAddress,
  Public,
  requireAddressOfLink,
  requirePermission,
  selectRangesOfLink,
  type Actor,
} from '#api/access';
import { ReadRecorder, releaseOnceRecorded } from '#api/reads';
import { Database } from '#platform/postgres';
import { selectFence } from '../logs/run-logs.queries.js';
import type { ErroredStateRead } from '../reads.events.js';
import { RunFiles } from '../run-files/run.files.js';
import { requireFenceParameter } from '../runs/run-fence.js';
import { createDeletedDataRefusal } from '../runs/run.js';
import { toRunId } from '../runs/runs.document.js';
import { findRun } from '../runs/runs.queries.js';
import { ErroredStateLinks } from './errored-states.links.js';
import { ErroredStates, toErroredState } from './errored-states.service.js';

/** The run of a link. */
type RunOfErroredState = {
  readonly organization: string;
  readonly workspace: string;
  readonly fence: number | null;
  readonly isDataDeleted: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

const REDIRECT_STATUS = 307;

/** States of applies that workspaces did not accept: plain bytes, no JSON:API. Documents of applies contain the links. */
@Controller('api/v2')
export class ErroredStatesController {
  constructor(
    private readonly database: Database,
    private readonly states: ErroredStates,
    private readonly files: RunFiles,
    private readonly links: ErroredStateLinks,
    private readonly reads: ReadRecorder,
  ) {}

  /** For executors (docs/reference/executor-protocol.md). */
  @Put('applies/:id/errored-state')
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(204)
  async upload(
    @Param('id') id: string,
    @Query('fence') fence: unknown,
    @Body() content: Readable,
    @Headers('content-length') announced: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const length = announced === undefined ? null : Number(announced);
    try {
      await this.states.receive(toRunId(id, 'apply'), requireFenceParameter(fence), { content, length }, actor);
    } finally {
      // Discards the unread rest, because the next request on this connection follows it.
      content.resume();
    }
  }

  @Get('applies/:id/errored-state')
  @Redirect(undefined, REDIRECT_STATUS)
  async download(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<HttpRedirectResponse> {
    const row = await findRun(this.database, actor, toRunId(id, 'apply'));
    requirePermission(actor, 'read-state', row);
    if (row.dataDeletedAt !== null) throw createDeletedDataRefusal();
    if (row.erroredStateAt === null) throw notFound('The apply has no errored state');
    const data = { run: row.id, workspace: row.workspace, shown: 'link', linkOf: actor.id } as const;
    await this.reads.record<ErroredStateRead>(actor, row.organization, { type: 'ErroredStateDownloaded', data });
    return { url: this.links.urlOf(row.id, actor), statusCode: REDIRECT_STATUS };
  }

  /** The signed link replaces the token. */
  @Get('errored-states/:token')
  @Public()
  @Header('content-type', 'application/json')
  @Header('content-disposition', 'attachment; filename="errored.tfstate"')
  @Header('x-content-type-options', 'nosniff')
  @Header('cache-control', 'no-store')
  async content(@Param('token') token: string, @Req() request: FastifyRequest): Promise<StreamableFile> {
    const { run: id, recipient } = this.links.targetOf(token);
    const run = await this.database.row<RunOfErroredState>(sql`
      select r.organization, r.workspace, ${selectFence('apply')} as fence,
             r.data_deleted_at is not null as "isDataDeleted", ${selectRangesOfLink(sql.raw('r.organization'), {
               type: sql`${recipient.type}::text`,
               id: sql`${recipient.id}::text`,
             })} as "allowedRanges" from runs r where r.id = ${id}`);
    if (run) requireAddressOfLink(run.allowedRanges, getClientAddress(request));
    if (run?.isDataDeleted) throw createDeletedDataRefusal();
    const file = run && (await this.files.get(toErroredState(id, run.fence)));
    if (!run || !file) throw notFound('The state is not here');
    const { id: linkOf, type } = recipient;
    const context = {
      ...createSystemContext('signed link', request.id),
      request: describeRequest(request),
      ...(type === 'users' ? { linkOf } : {}),
    };
    const data = { run: id, workspace: run.workspace, shown: 'state', linkOf } as const;
    const recorded = this.reads.recordAs<ErroredStateRead>(context, run.organization, {
      type: 'ErroredStateDownloaded',
      data,
    });
    const content = await releaseOnceRecorded(file.content, recorded);
    return new StreamableFile(content, { type: 'application/json', length: file.size });
  }
}
