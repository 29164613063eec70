import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { Database } from '#platform/postgres';
import { renderTaskStage } from '../task-stages/task-stages.document.js';
import { findTaskStage } from '../task-stages/task-stages.queries.js';
import { parseActionComment } from './runs.body.js';
import { ChangeRun } from './runs.commands.js';

/** The decisions of people about policies that have failed. */
@Controller('api/v2')
export class PolicyOverridesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Post('task-stages/:id/actions/override')
  @HttpCode(200)
  async override(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const comment = parseActionComment(body ?? {});
    const { run } = await findTaskStage(this.database, actor, id);
    await this.bus.execute(new ChangeRun('OverridePolicies', { id: run, stage: id, comment, actor }));
    return renderDocument(renderTaskStage(await findTaskStage(this.database, actor, id), actor));
  }
}
