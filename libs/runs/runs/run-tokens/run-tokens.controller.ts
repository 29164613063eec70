import { Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#api/access';
import { renderDocument, type Document } from '#api/json-api';
import { renderAuthenticationToken } from '#identity/people';
import { ChangeRun } from '../runs/runs.commands.js';

@Controller('api/v2')
export class RunTokensController {
  constructor(private readonly bus: CommandBus) {}

  /**
   * For executors. The token has the permissions that the run needs and expires when the run ends
   * (docs/reference/executor-protocol.md).
   */
  @Post('runs/:id/authentication-tokens')
  async create(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const token = await this.bus.execute(new ChangeRun('IssueRunToken', { id, actor }));
    return renderDocument(renderAuthenticationToken(token));
  }
}
