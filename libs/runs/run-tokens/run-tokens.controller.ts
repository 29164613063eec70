import { Controller, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#access';
import { renderDocument, type Document } from '#json-api';
import { renderAuthenticationToken } from '#people';
import { IssueRunToken } from './run-tokens.handler.js';

@Controller('api/v2')
export class RunTokensController {
  constructor(private readonly bus: CommandBus) {}

  /**
   * For executors. The token has the permissions that the run needs and expires when the run ends
   * (docs/how-to/executors.md).
   */
  @Post('runs/:id/authentication-tokens')
  async create(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderAuthenticationToken(await this.bus.execute(new IssueRunToken(id, actor))));
  }
}
