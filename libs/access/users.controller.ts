import { Controller, Get } from '@nestjs/common';
import { Database } from '#event-store';
import { document, linkTo, type Document, type Resource } from '#json-api';
import type { Actor } from './actor.js';
import { CurrentActor } from './authenticate.guard.js';
import { confirm } from './fresh.js';
import { userById, type UserRow } from './users.queries.js';

/** A person, or what a team or organization token shows of itself: a service account, which founds nothing. */
export const userResource = ({ id, username, email, siteAdmin }: UserRow, isServiceAccount = false): Resource => ({
  id,
  type: 'users',
  attributes: {
    username,
    email,
    'is-service-account': isServiceAccount,
    'is-site-admin': siteAdmin,
    'is-admin': siteAdmin,
    'avatar-url': null,
    'v2-only': true,
    permissions: {
      'can-create-organizations': !isServiceAccount,
      'can-change-email': false,
      'can-change-username': false,
    },
  },
  relationships: { 'authentication-tokens': linkTo(`/api/v2/users/${id}/authentication-tokens`) },
  links: { self: `/api/v2/users/${id}` },
});

@Controller('api/v2')
export class UsersController {
  constructor(private readonly database: Database) {}

  /** Who am I: team and organization tokens are shown as a service account of that name, as clients expect. */
  @Get('account/details')
  async account(@CurrentActor() actor: Actor): Promise<Document> {
    const row = actor.kind === 'user' ? await userById(this.database, actor.id, actor) : undefined;
    if (row) return document(userResource(row));
    await confirm(this.database, actor);
    return document(userResource({ id: actor.id, username: actor.name, email: null, siteAdmin: false }, true));
  }
}
