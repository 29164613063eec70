import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { Database } from '#event-store';
import { document, parseBody, resourceBody, type Document } from '#json-api';
import type { Actor } from './actor.js';
import { CurrentActor } from './authenticate.guard.js';
import { confirm } from './fresh.js';
import type { UserChanges } from './user.js';
import { userResource } from './users.document.js';
import { UpdateAccount } from './users.handler.js';
import { userById, userFor } from './users.queries.js';

const updateBody = resourceBody(
  'users',
  z.object({ username: z.string().optional(), email: z.string().optional() }).default({}),
);

@Controller('api/v2')
export class UsersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  /** Who am I: team and organization tokens are shown as a service account of that name, as clients expect. */
  @Get('account/details')
  async account(@CurrentActor() actor: Actor): Promise<Document> {
    const row = actor.kind === 'user' ? await userById(this.database, actor.id, actor) : undefined;
    if (row) return document(userResource(row, actor));
    await confirm(this.database, actor);
    return document(userResource({ id: actor.id, username: actor.name, email: null, siteAdmin: false }, actor, true));
  }

  @Patch(['account/update', 'account/details'])
  async update(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { username, email } = parseBody(updateBody, body).data.attributes;
    const changes: UserChanges = {
      ...(username === undefined ? {} : { username }),
      ...(email === undefined ? {} : { email }),
    };
    return document(userResource(await this.bus.execute(new UpdateAccount(changes, actor)), actor));
  }

  @Get('users/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return document(userResource(await userFor(this.database, id, actor), actor));
  }
}
