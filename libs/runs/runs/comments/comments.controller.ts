import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { renderComment } from '../run-events/run-events.document.js';
import { findComment, listComments } from '../run-events/run-events.queries.js';
import { parseNewComment } from '../runs/runs.body.js';
import { ChangeRun } from '../runs/runs.commands.js';

@Controller('api/v2')
export class CommentsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Post('runs/:id/comments')
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const input = { id, body: parseNewComment(body), actor };
    return renderDocument(renderComment(await this.bus.execute(new ChangeRun('CommentRun', input))));
  }

  @Get('runs/:id/comments')
  async list(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument((await listComments(this.database, actor, id)).map(renderComment));
  }

  @Get('comments/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderComment(await findComment(this.database, actor, id)));
  }
}
