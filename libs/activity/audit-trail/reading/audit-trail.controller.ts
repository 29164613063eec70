import { Controller, Get, Header, Headers, Query, Res, type StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ConfigureRoute, CurrentActor, requirePermission, type Actor } from '#api/access';
import type { QueryParameters as QueryOf } from '#api/json-api';
import { TRAIL_FILTERS } from './trail-entry-filter.js';
import { JSON_DOCUMENT, TrailAnswers } from './trail.answers.js';

@Controller('api/v2')
export class AuditTrailController {
  constructor(private readonly answers: TrailAnswers) {}

  /** The path names no organization, because the token belongs to one; other tokens have no audit trail. */
  @Get('organization/audit-trail')
  @ConfigureRoute({ filters: TRAIL_FILTERS, effect: 'reads-audit-trail' })
  @Header('content-type', JSON_DOCUMENT)
  async list(
    @Query() query: QueryOf,
    @Headers('accept') accept: string = '',
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    requirePermission(actor, 'read-audit-trail-of-token', { organization: actor.id });
    const request = { organization: actor.id, query, accept, format: null, fileName: null };
    return this.answers.answer(request, actor, reply);
  }
}
