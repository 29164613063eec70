import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ConfigureRoute, CurrentActor, loadParentOrganization, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { TrailLogReader } from './trail-log.reader.js';
import { TrailProofReader } from './trail-proof.reader.js';

const TEXT = 'text/plain; charset=utf-8';
/** A new checkpoint comes every few seconds at most. */
const CACHED_SHORTLY = 'private, max-age=5';
/**
 * A tile changes only if the log continues under another origin after a restore, with the same paths. A token is needed to
 * read it, so that only the client may keep it.
 */
const CACHED_FOR_MINUTES = 'private, max-age=300';

/** The transparency log of an organization's audit trail. */
@Controller('api/v2/organizations/:organization/audit-trail-log')
export class AuditTrailLogController {
  constructor(
    private readonly database: Database,
    private readonly logs: TrailLogReader,
    private readonly proofs: TrailProofReader,
  ) {}

  @Get('checkpoint')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', TEXT)
  @Header('cache-control', CACHED_SHORTLY)
  async showCheckpoint(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.logs.readCheckpoint(await this.findLog(name, actor));
  }

  @Get('keys')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', TEXT)
  @Header('cache-control', CACHED_SHORTLY)
  async listKeys(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.logs.readKeys(await this.findLog(name, actor));
  }

  @Get('tile/*')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', 'application/octet-stream')
  async showTile(
    @Param('organization') name: string,
    @Param('*') path: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const content = await this.logs.readTile(await this.findLog(name, actor), path);
    void reply.header('cache-control', CACHED_FOR_MINUTES);
    return content;
  }

  @Get('entries/:entry/proof')
  @ConfigureRoute({ effect: 'reads-audit-trail' })
  @Header('content-type', TEXT)
  async showProof(
    @Param('organization') name: string,
    @Param('entry') entry: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const proof = await this.proofs.read(await this.findLog(name, actor), entry);
    // The entry is an id or a number here, so it needs no quoting.
    void reply.header('content-disposition', `attachment; filename="${entry}.tlog-proof"`);
    return Buffer.from(proof);
  }

  private async findLog(name: string, actor: Actor): Promise<string> {
    return (await loadParentOrganization(this.database, actor, 'read-audit-trail', name)).organization;
  }
}
