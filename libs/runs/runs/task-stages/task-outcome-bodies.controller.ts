import { Controller, Get, Header, Param } from '@nestjs/common';
import { notFound } from '#platform/kernel';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { TaskOutcomeBodies } from './task-outcome.bodies.js';
import { findTaskOutcome } from './task-stages.queries.js';

/** The texts of outcomes of task results. */
@Controller('api/v2')
export class TaskOutcomeBodiesController {
  constructor(
    private readonly database: Database,
    private readonly bodies: TaskOutcomeBodies,
  ) {}

  /** Markdown of a service, which no browser must execute. */
  @Get('task-result-outcomes/:id/body')
  @Header('content-type', 'text/markdown; charset=utf-8')
  @Header('x-content-type-options', 'nosniff')
  @Header('content-disposition', 'attachment')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<string> {
    const { encryptedBody } = await findTaskOutcome(this.database, actor, id);
    if (encryptedBody === null) throw notFound('The outcome has no body, or it was deleted');
    return this.bodies.decrypt(id, encryptedBody);
  }
}
