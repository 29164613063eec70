import { createGunzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
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
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound, sql } from '#platform/kernel';
import {
  ConfigureRoute,
  createSystemContext,
  CurrentActor,
  describeRequest,
  getClientAddress,
  Public,
  requireAddressOfLink,
  selectRangesOfLink,
  type Actor,
} from '#api/access';
import { ReadRecorder, releaseOnceRecorded } from '#api/reads';
import { checkContentLength, limitUpload, MIB, readBytes } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { selectFence } from '../logs/run-logs.queries.js';
import { parseFence } from '../runs/run-fence.js';
import type { LinkRecipient } from '../runs/run-logs.links.js';
import type { PlanOutputRead } from '../reads.events.js';
import { RunFiles } from '../run-files/run.files.js';
import { createDeletedDataRefusal } from '../runs/run.js';
import { toRunId } from '../runs/runs.document.js';
import { PlanDocumentRedirects } from './plan-document-redirects.service.js';
import { PlanDocumentLinks } from './plan-documents.links.js';
import { PlanDocuments, toDocument } from './plan-documents.service.js';

/** Bytes of an upload, which may be compressed. */
const MAX_UPLOAD_BYTES = 24 * MIB;

/** The run of a link. */
type LinkedRun = {
  readonly id: string;
  readonly organization: string;
  readonly workspace: string;
  readonly fence: number | null;
  readonly isDataDeleted: boolean;
  /** For `requireAddressOfLink`. */
  readonly allowedRanges: readonly string[] | null;
};

/** Documents of plans in the formats of terraform: no JSON:API. */
@Controller('api/v2')
export class PlanDocumentsController {
  constructor(
    private readonly database: Database,
    private readonly documents: PlanDocuments,
    private readonly files: RunFiles,
    private readonly links: PlanDocumentLinks,
    private readonly redirects: PlanDocumentRedirects,
    private readonly reads: ReadRecorder,
  ) {}

  @Put('plans/:id/json-schema')
  @ConfigureRoute({ rawBody: 'json' })
  @HttpCode(204)
  async uploadSchemas(
    @Param('id') id: string,
    @Query('fence') fence: unknown,
    @Body() content: Readable,
    @Headers('content-length') length: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const run = await this.documents.authorize(toRunId(id, 'plan'), parseFence(fence), actor);
    await this.receive(content, length, (schemas) => this.documents.storeSchemas(run, schemas));
  }

  @Put('plans/:id/json-output')
  @ConfigureRoute({ rawBody: 'json' })
  @HttpCode(204)
  async uploadPlan(
    @Param('id') id: string,
    @Query('fence') fence: unknown,
    @Body() content: Readable,
    @Headers('content-length') length: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const run = await this.documents.authorize(toRunId(id, 'plan'), parseFence(fence), actor);
    await this.receive(content, length, (plan) => this.documents.storePlan(run, plan));
  }

  @Get('plans/:id/json-output')
  @HttpCode(307)
  output(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(toRunId(id, 'plan'), 'json-output', actor, reply);
  }

  @Get('runs/:id/plan/json-output')
  @HttpCode(307)
  outputOfRun(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(id, 'json-output', actor, reply);
  }

  @Get('plans/:id/json-output-redacted')
  @HttpCode(307)
  redacted(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(toRunId(id, 'plan'), 'json-output-redacted', actor, reply);
  }

  @Get('runs/:id/plan/json-output-redacted')
  @HttpCode(307)
  redactedOfRun(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(id, 'json-output-redacted', actor, reply);
  }

  @Get('plans/:id/json-schema')
  @HttpCode(307)
  schemas(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(toRunId(id, 'plan'), 'json-schema', actor, reply);
  }

  @Get('runs/:id/plan/json-schema')
  @HttpCode(307)
  schemasOfRun(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    return this.redirects.redirect(id, 'json-schema', actor, reply);
  }

  /** The signed link replaces the token. */
  @Get('plan-documents/:token')
  @Public()
  @Header('content-type', 'application/json')
  @Header('x-content-type-options', 'nosniff')
  @Header('cache-control', 'no-store')
  async content(@Param('token') token: string, @Req() request: FastifyRequest): Promise<StreamableFile> {
    const { run: id, kind, recipient } = this.links.targetOf(token);
    const run = await this.database.row<LinkedRun>(sql`
      select r.id, r.organization, r.workspace, ${selectFence('plan')} as fence,
             r.data_deleted_at is not null as "isDataDeleted", ${selectRangesOfLink(sql.raw('r.organization'), {
               type: sql`${recipient.type}::text`,
               id: sql`${recipient.id}::text`,
             })} as "allowedRanges" from runs r where r.id = ${id}`);
    if (run) requireAddressOfLink(run.allowedRanges, getClientAddress(request));
    if (run?.isDataDeleted) throw createDeletedDataRefusal();
    const file = run && (await this.files.get(toDocument(run, kind)));
    if (!run || !file) throw notFound('The document is not here');
    const recorded = kind === 'json-output' ? this.recordContent(run, recipient, request) : Promise.resolve();
    const content = await releaseOnceRecorded(file.content, recorded);
    // An error of either stream destroys both, and so ends the response.
    return new StreamableFile(
      pipeline(content, createGunzip(), () => undefined),
      { type: 'application/json' },
    );
  }

  private async receive(
    content: Readable,
    announced: string | undefined,
    store: (document: Buffer) => Promise<void>,
  ): Promise<void> {
    const length = announced === undefined ? null : Number(announced);
    checkContentLength(length, MAX_UPLOAD_BYTES);
    const read = () => readBytes(limitUpload(content, MAX_UPLOAD_BYTES));
    await this.documents.receive(length ?? MAX_UPLOAD_BYTES, read, store);
  }

  /** Records the download with the caller that got the link. */
  private recordContent(
    { id: run, organization, workspace }: LinkedRun,
    { id: linkOf, type }: LinkRecipient,
    request: FastifyRequest,
  ): Promise<void> {
    const context = {
      ...createSystemContext('signed link', request.id),
      request: describeRequest(request),
      ...(type === 'users' ? { linkOf } : {}),
    };
    const data = { run, workspace, shown: 'document', linkOf } as const;
    return this.reads.recordAs<PlanOutputRead>(context, organization, { type: 'PlanOutputDownloaded', data });
  }
}
