import { Controller, Get, Header, Headers, Param, Query, Res, type StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ConfigureRoute, CurrentActor, loadParentOrganization, type Actor } from '#api/access';
import type { QueryParameters as QueryOf } from '#api/json-api';
import { Database } from '#platform/postgres';
import { TrailEntryReader } from './trail-entry.reader.js';
import { TRAIL_FILTERS } from './trail-entry-filter.js';
import { JSON_DOCUMENT, parseTrailFormat, TrailAnswers } from './trail.answers.js';

/** The audit trail of an organization that the path names, for people as well. */
@Controller('api/v2/organizations/:organization/audit-trail')
export class OrganizationAuditTrailController {
  constructor(
    private readonly database: Database,
    private readonly answers: TrailAnswers,
    private readonly entries: TrailEntryReader,
  ) {}

  @Get()
  @ConfigureRoute({ filters: TRAIL_FILTERS, effect: 'reads-audit-trail' })
  @Header('content-type', JSON_DOCUMENT)
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Headers('accept') accept: string = '',
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | StreamableFile> {
    const { organization } = await loadParentOrganization(this.database, actor, 'read-audit-trail', name);
    const format = parseTrailFormat(query);
    const fileName = `${name}-audit-trail`;
    return this.answers.answer({ organization, query, accept, format, fileName }, actor, reply);
  }

  @Get(':id')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', JSON_DOCUMENT)
  async show(
    @Param('organization') name: string,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<Buffer> {
    const { organization } = await loadParentOrganization(this.database, actor, 'read-audit-trail', name);
    return Buffer.from(JSON.stringify(await this.entries.read(organization, id, actor)));
  }
}
