import { Body, Controller, Get, Header, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '#kernel';
import { ConfigureRoute, verifyCurrentAccess, CurrentActor, type Actor } from '#access';
import { Database } from '#postgres';
import { factSchemas, parseFacts } from './facts.body.js';
import { LimitedFactsRecorder } from './limited-facts.recorder.js';

/** As bytes: Fastify adds a charset to the media type of all else. */
/** Size of a batch. Larger ones come in several requests. */
const BATCH_BYTES = 2 * 1024 * 1024;

const plain = (answer: unknown): Buffer => Buffer.from(JSON.stringify(answer));

/** Plain JSON, as the trail is, for services that know nothing of JSON:API. */
@Controller('api/v2')
export class AuditFactsController {
  constructor(
    private readonly recorder: LimitedFactsRecorder,
    private readonly database: Database,
  ) {}

  /** 201 where something was recorded, 200 where all of it was known. */
  @Post('organizations/:organization/audit-facts')
  @ConfigureRoute({ bodyLimit: BATCH_BYTES })
  @Header('content-type', 'application/json')
  async report(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const facts = parseFacts(body);
    const outcomes = await this.recorder.record(organization, facts, actor);
    reply.status(outcomes.some(({ result }) => result === 'recorded') ? 201 : 200);
    return plain({ facts: facts.map(({ source, id }, n) => ({ source, id, ...outcomes[n] })) });
  }

  @Get('audit-facts/schemas')
  @Header('content-type', 'application/json')
  async schemas(@CurrentActor() actor: Actor): Promise<Buffer> {
    await verifyCurrentAccess(this.database, actor);
    return plain({ schemas: factSchemas });
  }

  @Get('audit-facts/schemas/:name')
  @Header('content-type', 'application/json')
  async schema(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    await verifyCurrentAccess(this.database, actor);
    const schema = Object.hasOwn(factSchemas, name) ? factSchemas[name] : undefined;
    if (!schema) throw notFound();
    return plain(schema);
  }
}
