import { Body, Controller, Get, Header, Param, Put, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { badRequest } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, getClientAddress, Public, type Actor } from '#api/access';
import { limitUpload, readBytes } from '#storage/blob-store';
import { MAX_APPEND_BYTES } from './run-log.js';
import { parseFence } from '../runs/run-fence.js';
import { RunLogLinks, toLogTarget, type LogTarget } from '../runs/run-logs.links.js';
import { RunLogs, type AppendedLog } from './run-logs.service.js';

/** Bytes that a client can request at once. go-tfe requests at most 64 KiB. */
export const MAX_READ_BYTES = 1024 * 1024;
export const DEFAULT_READ_BYTES = 64 * 1024;

const WHOLE_NUMBER = /^\d{1,15}$/;

const parseNumber = (value: unknown, parameter: string, [least, most]: readonly [number, number]): number => {
  const parsed = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : NaN;
  if (parsed >= least && parsed <= most) return parsed;
  throw badRequest(`${parameter} must be a whole number from ${least} to ${most}`, parameter);
};

const parseOffset = (value: unknown): number => parseNumber(value, 'offset', [0, Number.MAX_SAFE_INTEGER]);

type AppendQuery = { readonly offset?: unknown; readonly fence?: unknown };

type RenderedAppend = { readonly offset: number; readonly truncated: boolean };

/** The output of plans and applies: plain bytes, no JSON:API. Documents of plans and applies contain the URLs. */
@Controller('api/v2')
export class RunLogsController {
  constructor(
    private readonly logs: RunLogs,
    private readonly links: RunLogLinks,
  ) {}

  @Put('plans/:id/log')
  @ConfigureRoute({ rawBody: 'file' })
  appendToPlan(
    @Param('id') id: string,
    @Query() query: AppendQuery,
    @Body() content: Readable,
    @CurrentActor() actor: Actor,
  ): Promise<RenderedAppend> {
    return this.append(toLogTarget(id, 'plan'), query, content, actor);
  }

  @Put('applies/:id/log')
  @ConfigureRoute({ rawBody: 'file' })
  appendToApply(
    @Param('id') id: string,
    @Query() query: AppendQuery,
    @Body() content: Readable,
    @CurrentActor() actor: Actor,
  ): Promise<RenderedAppend> {
    return this.append(toLogTarget(id, 'apply'), query, content, actor);
  }

  /**
   * Sends a part of a log. The signed link replaces the token. The CLI ends its output at the first failed request, so
   * neither rate limits nor the protection against overload apply.
   */
  @Get('logs/:token')
  @Public()
  @ConfigureRoute({ isUnlimited: true, isEssential: true })
  @Header('content-type', 'text/plain; charset=utf-8')
  @Header('x-content-type-options', 'nosniff')
  @Header('cache-control', 'no-store')
  read(
    @Param('token') token: string,
    @Query('offset') offset: unknown,
    @Query('limit') limit: unknown,
    @Req() request: FastifyRequest,
  ): Promise<Buffer> {
    const { recipient, ...target } = this.links.targetOf(token);
    const range = {
      offset: offset === undefined ? 0 : parseOffset(offset),
      limit: limit === undefined ? DEFAULT_READ_BYTES : parseNumber(limit, 'limit', [1, MAX_READ_BYTES]),
    };
    return this.logs.read(target, recipient, getClientAddress(request), range);
  }

  private async append(
    target: LogTarget,
    query: AppendQuery,
    content: Readable,
    actor: Actor,
  ): Promise<RenderedAppend> {
    const [offset, fence] = [parseOffset(query.offset), parseFence(query.fence)];
    const output = await readBytes(limitUpload(content, MAX_APPEND_BYTES));
    return renderAppend(await this.logs.append(target, { fence, offset, output }, actor));
  }
}

const renderAppend = ({ offset, isCut }: AppendedLog): RenderedAppend => ({ offset, truncated: isCut });
