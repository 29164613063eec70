import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { badRequest, mayCreateOrganizations, OrganizationCreation } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { ConfigureRoute, CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import {
  getParameter,
  renderDocument,
  renderList,
  toMany,
  type Document,
  type PageRequest,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ChangeUser, renderUser } from '#identity/people';
import { AccountService } from '../account/account.service.js';
import { listAdministeredUsers, readAdministeredUser, type AdministeredUserRow } from './admin-users.queries.js';

const FILTERS = ['filter[admin]', 'filter[suspended]'] as const;

const parseFlag = (query: QueryOf, name: (typeof FILTERS)[number]): boolean | undefined => {
  const text = getParameter(query, name);
  if (!text) return undefined;
  if (text !== 'true' && text !== 'false') throw badRequest(`${name} can only be true or false, got ${text}`, name);
  return text === 'true';
};

/** The users of the site, for its administrators. */
@Controller('api/v2/admin/users')
export class AdminUsersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly account: AccountService,
    private readonly creation: OrganizationCreation,
  ) {}

  @Get()
  @ConfigureRoute({ filters: FILTERS })
  list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const filter = {
      search: getParameter(query, 'q'),
      siteAdmin: parseFlag(query, 'filter[admin]'),
      suspended: parseFlag(query, 'filter[suspended]'),
    };
    const list = (page: PageRequest) => listAdministeredUsers(this.database, actor, page, filter);
    return renderList(request, list, (row) => this.render(row, actor));
  }

  /** Ends the tokens and sessions of a user, who keeps memberships and teams but cannot sign in until `unsuspend`. */
  @Post(':id/actions/suspend')
  @HttpCode(200)
  suspend(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, actor, () => this.bus.execute(new ChangeUser('SuspendUser', { id, actor })));
  }

  @Post(':id/actions/unsuspend')
  @HttpCode(200)
  unsuspend(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, actor, () => this.bus.execute(new ChangeUser('UnsuspendUser', { id, actor })));
  }

  @Post(':id/actions/grant_admin')
  @HttpCode(200)
  @RequireRecentSignIn()
  grantAdmin(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, actor, () => this.bus.execute(new ChangeUser('GrantSiteAdmin', { id, actor })));
  }

  @Post(':id/actions/revoke_admin')
  @HttpCode(200)
  @RequireRecentSignIn()
  revokeAdmin(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, actor, () => this.bus.execute(new ChangeUser('RevokeSiteAdmin', { id, actor })));
  }

  /** Removes one-time codes, recovery codes and passkeys of a user who has lost them, and ends the sessions. */
  @Post(':id/actions/disable_two_factor')
  @HttpCode(200)
  @RequireRecentSignIn()
  disableTwoFactor(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.change(id, actor, () => this.account.disableTwoFactor(actor, id));
  }

  /** Forgets a person: ends memberships, teams and tokens, and erases name and addresses. */
  @Delete(':id')
  @HttpCode(204)
  async forget(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeUser('ForgetUser', { id, actor }));
  }

  private async change(id: string, actor: Actor, change: () => Promise<unknown>): Promise<Document> {
    await change();
    return renderDocument(this.render(await readAdministeredUser(this.database, id), actor));
  }

  /** Adds what only site administrators see. */
  private render(row: AdministeredUserRow, actor: Actor): Resource {
    const { attributes, relationships, ...user } = renderUser(
      row,
      actor,
      false,
      mayCreateOrganizations(this.creation, row),
    );
    // A method counts as soon as it is set up, because the person has proved it then.
    const twoFactor = { enabled: row.hasSecondFactor, verified: row.hasSecondFactor };
    return {
      ...user,
      attributes: { ...attributes, 'created-at': row.createdAt, 'two-factor': twoFactor },
      relationships: { ...relationships, organizations: toMany('organizations', row.organizations) },
    };
  }
}
