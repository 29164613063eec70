import type { Readable } from 'node:stream';
import { Body, Controller, Headers, HttpCode, Param, Patch, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { badRequest } from '#platform/kernel';
import {
  ConfigureRoute,
  createSystemContext,
  describeRequest,
  getBearerToken,
  getClientAddress,
  Public,
} from '#api/access';
import { parseBody } from '#api/json-api';
import { checkContentLength, limitUpload, readBytes } from '#storage/blob-store';
import { RunChanges } from '../runs/run-changes.service.js';
import { MAX_REPORT_BYTES, taskReportBody } from './task-report.body.js';
import { TaskReports } from './task-reports.service.js';
import { TaskTokens } from './task-tokens.links.js';

const readJson = async (content: Readable | undefined, announced: string | undefined): Promise<unknown> => {
  checkContentLength(announced === undefined ? null : Number(announced), MAX_REPORT_BYTES);
  const bytes = content ? await readBytes(limitUpload(content, MAX_REPORT_BYTES)) : Buffer.alloc(0);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw badRequest('The body is no JSON document');
  }
};

/** Reports of services of run tasks. The access token of the request to the service replaces the token of the API. */
@Controller('api/v2')
export class TaskCallbacksController {
  constructor(
    private readonly reports: TaskReports,
    private readonly tokens: TaskTokens,
    private readonly changes: RunChanges,
  ) {}

  @Patch('task-results/:id/callback')
  @Public()
  @ConfigureRoute({ rawBody: 'json' })
  @HttpCode(200)
  async report(
    @Param('id') id: string,
    @Headers('content-length') length: string | undefined,
    @Body() content: Readable | undefined,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    this.tokens.verify(getBearerToken(request), id);
    const result = await this.reports.find(id, getClientAddress(request));
    const { data } = parseBody(taskReportBody, await readJson(content, length));
    const context = { ...createSystemContext('run task', request.id), request: describeRequest(request) };
    await this.reports.record(result, data, context);
    this.changes.continueReads(result.run);
  }
}
