import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#api/access';
import { renderList, type Document, type Resource } from '#api/json-api';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { SITE_LOG_PATH } from '../logs/origin.js';
import { findStampedFiles, listTimeStamps, type TimeStampRow } from './time-stamps.queries.js';

const TEXT = 'text/plain; charset=utf-8';
const CACHED_SHORTLY = 'public, max-age=5';
/** The address contains the digest of the stamped bytes. */
const CACHED_FOR_DAYS = 'public, max-age=604800, immutable';

const PATH = `${SITE_LOG_PATH}/time-stamps`;

const renderTimeStamp = ({ id, origin, size, authority, policy, stampedAt }: TimeStampRow): Resource => ({
  id,
  type: 'audit-trail-log-time-stamps',
  attributes: { origin, size, authority, policy, 'stamped-at': stampedAt },
  links: { checkpoint: `/${PATH}/${id}/checkpoint`, 'time-stamp': `/${PATH}/${id}/checkpoint.tsr` },
});

/** Time stamps (RFC 3161) of checkpoints of the log of the site. Everybody may read them. */
@Controller(PATH)
@Public()
export class AuditTrailLogTimeStampsController {
  constructor(private readonly database: Database) {}

  @Get()
  @Header('cache-control', CACHED_SHORTLY)
  list(@Req() request: FastifyRequest): Promise<Document> {
    return renderList(request, (page) => listTimeStamps(this.database, page), renderTimeStamp);
  }

  @Get(':id/checkpoint')
  @Header('content-type', TEXT)
  async showCheckpoint(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const { note } = await this.find(id, reply);
    return Buffer.from(note);
  }

  @Get(':id/checkpoint.tsr')
  @Header('content-type', 'application/timestamp-reply')
  async showTimeStamp(@Param('id') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const { response } = await this.find(id, reply);
    return response;
  }

  private async find(id: string, reply: FastifyReply) {
    const files = await findStampedFiles(this.database, id);
    if (!files) throw notFound();
    void reply.header('cache-control', CACHED_FOR_DAYS);
    return files;
  }
}
