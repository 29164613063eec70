import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '#api/access';
import { SITE_LOG_PATH } from '../logs/origin.js';
import { SITE_LOG } from '../tiles/hashes.js';
import { TrailLogReader } from './trail-log.reader.js';
import { TrailProofReader } from './trail-proof.reader.js';

const TEXT = 'text/plain; charset=utf-8';
const CACHED_SHORTLY = 'public, max-age=5';
/** A tile changes only if the log continues under another origin after a restore, with the same paths. */
const CACHED_FOR_MINUTES = 'public, max-age=300';

/** The log of the site, which contains digests of the checkpoints of all logs. Everybody may read it. */
@Controller(SITE_LOG_PATH)
@Public()
export class SiteAuditTrailLogController {
  constructor(
    private readonly logs: TrailLogReader,
    private readonly proofs: TrailProofReader,
  ) {}

  @Get('checkpoint')
  @Header('content-type', TEXT)
  @Header('cache-control', CACHED_SHORTLY)
  showCheckpoint(): Promise<Buffer> {
    return this.logs.readCheckpoint(SITE_LOG);
  }

  @Get('keys')
  @Header('content-type', TEXT)
  @Header('cache-control', CACHED_SHORTLY)
  listKeys(): Promise<Buffer> {
    return this.logs.readKeys(SITE_LOG);
  }

  @Get('checkpoints/:digest/proof')
  @Header('content-type', TEXT)
  @Header('cache-control', CACHED_SHORTLY)
  async showProof(@Param('digest') digest: string): Promise<Buffer> {
    return Buffer.from(await this.proofs.readOfSite(digest));
  }

  @Get('tile/*')
  @Header('content-type', 'application/octet-stream')
  async showTile(@Param('*') path: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const content = await this.logs.readTile(SITE_LOG, path);
    void reply.header('cache-control', CACHED_FOR_MINUTES);
    return content;
  }
}
