import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#access';
import { Database } from '#event-store';
import { document, type Document } from '#json-api';
import { commentResource } from './run-events.document.js';
import { commentFor, commentsOf } from './run-events.queries.js';
import { newComment } from './runs.body.js';
import { CommentOnRun } from './comments.handler.js';

@Controller('api/v2')
export class CommentsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Post('runs/:id/comments')
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    return document(commentResource(await this.bus.execute(new CommentOnRun(id, newComment(body), actor))));
  }

  @Get('runs/:id/comments')
  async list(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document((await commentsOf(this.database, actor, id)).map(commentResource));
  }

  @Get('comments/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(commentResource(await commentFor(this.database, actor, id)));
  }
}
