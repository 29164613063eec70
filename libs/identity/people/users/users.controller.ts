import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { mayCreateOrganizations, OrganizationCreation } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  parseBody,
  unsupportedMember,
  resourceBody,
  fromAttributes,
  type Document,
} from '#api/json-api';
import { LimitAccessChanges, CurrentActor, type Actor } from '#api/access';
import { ChangeUser } from './users.handler.js';
import { renderUser } from './users.document.js';
import { findOwnAccount, findUser, type UserRow } from './users.queries.js';

export const updateBody = resourceBody(
  'users',
  z
    .object({
      username: z.string().optional(),
      email: z.string().optional(),
      'unconfirmed-email': z.string().nullable().optional(),
      password: unsupportedMember('people sign in with tokens'),
    })
    .default({}),
);

@Controller('api/v2')
export class UsersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly creation: OrganizationCreation,
  ) {}

  /**
   * Returns the caller's account. Team and organization tokens are shown as a service account with that name, as
   * clients expect.
   */
  @Get('account/details')
  async account(@CurrentActor() actor: Actor): Promise<Document> {
    const row = await findOwnAccount(this.database, actor);
    if (row) return this.render(row, actor);
    const account = {
      id: actor.id,
      username: actor.name,
      email: null,
      unconfirmedEmail: null,
      siteAdmin: false,
      suspended: false,
    };
    return renderDocument(renderUser(account, actor, true));
  }

  @Patch(['account/update', 'account/details'])
  @LimitAccessChanges()
  async update(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = fromAttributes(parseBody(updateBody, body).data.attributes);
    return this.render(await this.bus.execute(new ChangeUser('UpdateUser', { changes, actor })), actor);
  }

  @Get('users/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.render(await findUser(this.database, actor, id), actor);
  }

  private render(row: UserRow, actor: Actor): Document {
    return renderDocument(renderUser(row, actor, false, mayCreateOrganizations(this.creation, row)));
  }
}
