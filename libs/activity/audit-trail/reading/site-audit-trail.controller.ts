import { Controller, Get, Header, Headers, Param, Query, Res, type StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  ConfigureRoute,
  CurrentActor,
  requirePermission,
  SITE_SCOPE,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import type { QueryParameters as QueryOf } from '#api/json-api';
import { Database } from '#platform/postgres';
import { SITE_TRAIL } from '../writing/trail.js';
import { TRAIL_FILTERS } from './trail-entry-filter.js';
import { TrailEntryReader } from './trail-entry.reader.js';
import { JSON_DOCUMENT, parseTrailFormat, TrailAnswers } from './trail.answers.js';

/** The audit trail of the site, for its administrators. */
@Controller('api/v2/admin/audit-trail')
export class SiteAuditTrailController {
  constructor(
    private readonly database: Database,
    private readonly answers: TrailAnswers,
    private readonly entries: TrailEntryReader,
  ) {}

  @Get()
  @ConfigureRoute({ filters: TRAIL_FILTERS, effect: 'reads-audit-trail' })
  @Header('content-type', JSON_DOCUMENT)
  async list(
    @Query() query: QueryOf,
    @Headers('accept') accept: string = '',
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    await this.requireSiteAdmin(actor);
    const format = parseTrailFormat(query);
    const fileName = 'site-audit-trail';
    return this.answers.answer({ organization: SITE_TRAIL, query, accept, format, fileName }, actor, reply);
  }

  @Get(':id')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', JSON_DOCUMENT)
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    await this.requireSiteAdmin(actor);
    return Buffer.from(JSON.stringify(await this.entries.read(SITE_TRAIL, id, actor)));
  }

  private async requireSiteAdmin(actor: Actor): Promise<void> {
    await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'read-site-audit-trail', SITE_SCOPE);
  }
}
