import { Readable } from 'node:stream';
import { Body, Controller, Get, Header, Param, Put, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
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
/** The CLI sends no other time, and proxies end a response that sends nothing for a while, often after 60 s. */
export const DEFAULT_WAIT_SECONDS = 10;
export const MAX_WAIT_SECONDS = 30;

const WHOLE_NUMBER = /^\d{1,15}$/;

const parseNumber = (value: unknown, parameter: string, [least, most]: readonly [number, number]): number => {
  const parsed = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : NaN;
  if (parsed >= least && parsed <= most) return parsed;
  throw badRequest(`${parameter} must be a whole number from ${least} to ${most}`, parameter);
};

const parseOffset = (value: unknown): number => parseNumber(value, 'offset', [0, Number.MAX_SAFE_INTEGER]);

type AppendQuery = { readonly offset?: unknown; readonly fence?: unknown };

type ReadQuery = { readonly offset?: unknown; readonly limit?: unknown; readonly 'wait-seconds'?: unknown };

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
   * Sends a part of a log. If the log has no new output, the response waits for some. go-tfe reads only the first piece of a
   * response, so the part is one piece. The signed link replaces the token. The CLI ends its output at the first failed
   * request, so neither rate limits nor the protection against overload apply.
   */
  @Get('logs/:token')
  @Public()
  @ConfigureRoute({ isUnlimited: true, isEssential: true, isEndless: true })
  @Header('content-type', 'text/plain; charset=utf-8')
  @Header('x-content-type-options', 'nosniff')
  @Header('cache-control', 'no-store')
  async read(
    @Param('token') token: string,
    @Query() query: ReadQuery,
    @Req() request: FastifyRequest,
  ): Promise<Buffer | Readable> {
    const { recipient, ...target } = this.links.targetOf(token);
    const { range, seconds } = parseReadQuery(query);
    const reader = { recipient, address: getClientAddress(request) };
    const { content, awaitsOutput } = await this.logs.read(target, reader, range);
    // No client reads the body of a HEAD response, so nothing would end the wait.
    if (!awaitsOutput || seconds === 0 || request.method === 'HEAD') return content;
    return sendLater(seconds, (signal) => this.logs.waitForOutput(target, reader, range, { content, signal }));
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

const parseReadQuery = ({ offset, limit, 'wait-seconds': seconds }: ReadQuery) => ({
  range: {
    offset: offset === undefined ? 0 : parseOffset(offset),
    limit: limit === undefined ? DEFAULT_READ_BYTES : parseNumber(limit, 'limit', [1, MAX_READ_BYTES]),
  },
  seconds: seconds === undefined ? DEFAULT_WAIT_SECONDS : parseNumber(seconds, 'wait-seconds', [0, MAX_WAIT_SECONDS]),
});

/** Returns a response of one piece. Fastify sends the headers with it, or a refusal instead. The signal aborts when the time is over, or when the client has closed its connection. */
const sendLater = (seconds: number, read: (signal: AbortSignal) => Promise<Buffer>): Readable => {
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(seconds * 1_000)]);
  return new Readable({
    read() {
      read(signal).then(
        (content) => {
          this.push(content);
          this.push(null);
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      closing.abort();
      done(error);
    },
  });
};
