import { Body, Controller, Get, Header, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '#platform/kernel';
import { ConfigureRoute, verifyCurrentAccess, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { factSchemas, parseFacts } from './facts.body.js';
import { LimitedFactsRecorder } from './limited-facts.recorder.js';

/** Maximum size of a batch in bytes. Larger batches need several requests. */
const BATCH_BYTES = 2 * 1024 * 1024;

const plain = (answer: unknown): Buffer => Buffer.from(JSON.stringify(answer));

/** Uses plain JSON, like the audit trail, so that services need no support of JSON:API. */
@Controller('api/v2')
export class AuditFactsController {
  constructor(
    private readonly recorder: LimitedFactsRecorder,
    private readonly database: Database,
  ) {}

  /** Returns 201 if any fact was recorded, and 200 if all were known. */
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
