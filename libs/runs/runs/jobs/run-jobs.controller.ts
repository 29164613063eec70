import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { parseBody, renderDocument, resourceBody, type Document } from '#api/json-api';
import { RunJobRenderer } from './run-jobs.renderer.js';
import { RunJobs } from './run-jobs.service.js';

const NONCE = /^[\w-]{16,128}$/;

export const jobBody = resourceBody(
  'run-jobs',
  z.object({
    fence: z.int().min(1),
    nonce: z.string().regex(NONCE, { error: "Nonce must have 16 to 128 letters, digits, '-' and '_'" }),
  }),
);

/** For executors: what they need for a phase of a run (docs/reference/executor-protocol.md). */
@Controller('api/v2')
export class RunJobsController {
  constructor(
    private readonly jobs: RunJobs,
    private readonly renderer: RunJobRenderer,
  ) {}

  /** A POST, so that the answer is neither kept nor compressed, and so that no address contains the nonce. */
  @Post('runs/:id/job')
  @HttpCode(200)
  async read(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { fence, nonce } = parseBody(jobBody, body).data.attributes;
    return renderDocument(this.renderer.resource(await this.jobs.read({ id, fence, nonce, actor }), actor));
  }
}
