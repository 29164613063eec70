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
  Req,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, getClientAddress, Public, type Actor } from '#api/access';
import { requireFenceParameter } from '../runs/run-fence.js';
import { toRunId } from '../runs/runs.document.js';
import { PlanFileLinks } from './plan-files.links.js';
import { PlanFiles } from './plan-files.service.js';

/** Archives with plans, for executors: plain bytes, no JSON:API (docs/reference/executor-protocol.md). */
@Controller('api/v2')
export class PlanFilesController {
  constructor(
    private readonly files: PlanFiles,
    private readonly links: PlanFileLinks,
  ) {}

  @Put('plans/:id/plan-file')
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
      await this.files.receive(toRunId(id, 'plan'), requireFenceParameter(fence), { content, length }, actor);
    } finally {
      // Discards the unread rest, because the next request on this connection follows it.
      content.resume();
    }
  }

  /** The signed link replaces the token. */
  @Get('plan-files/:token')
  @Public()
  @Header('content-type', 'application/octet-stream')
  @Header('x-content-type-options', 'nosniff')
  @Header('cache-control', 'no-store')
  async content(@Param('token') token: string, @Req() request: FastifyRequest): Promise<StreamableFile> {
    const { content, size } = await this.files.open(this.links.targetOf(token), getClientAddress(request));
    return new StreamableFile(content, { type: 'application/octet-stream', length: size });
  }
}
