import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { OrganizationCreation, Quotas } from '#platform/kernel';
import { NameEraser } from '#storage/personal-data';
import { AccessExplanationsController } from './access-explanations/access-explanations.controller.js';
import { AccessRowsController } from './access-rows/access-rows.controller.js';
import { AuthenticationTokensController } from './authentication-tokens/authentication-tokens.controller.js';
import { AuthenticationTokensHandler, TOKEN_LIFETIME } from './authentication-tokens/authentication-tokens.handler.js';
import { AvatarsController } from './users/avatars.controller.js';
import { TeamProjectsController } from './team-access/team-projects.controller.js';
import { TeamProjectsHandler } from './team-access/team-projects.handler.js';
import { TeamWorkspacesController } from './team-access/team-workspaces.controller.js';
import { TeamWorkspacesHandler } from './team-access/team-workspaces.handler.js';
import { OrganizationMembershipsController } from './memberships/organization-memberships.controller.js';
import { OrganizationMembershipsHandler } from './memberships/organization-memberships.handler.js';
import { TeamsController } from './teams/teams.controller.js';
import { TeamsHandler } from './teams/teams.handler.js';
import type { TokenLifetime } from './authentication-tokens/token-lifetime.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionsHandler } from './sessions/sessions.handler.js';
import { UsersController } from './users/users.controller.js';
import { UsersHandler } from './users/users.handler.js';

type PeopleOptions = {
  readonly forgetting: NameEraser;
  /** Null: tokens whose request names no expiry time never expire. */
  readonly tokenLifetime: TokenLifetime | null;
  readonly quotas: Quotas;
  readonly organizationCreation: OrganizationCreation;
};

@Module({
  imports: [CqrsModule],
  controllers: [
    AccessExplanationsController,
    AccessRowsController,
    AvatarsController,
    AuthenticationTokensController,
    TeamProjectsController,
    TeamWorkspacesController,
    OrganizationMembershipsController,
    SessionsController,
    TeamsController,
    UsersController,
  ],
  providers: [
    AuthenticationTokensHandler,
    UsersHandler,
    OrganizationMembershipsHandler,
    SessionsHandler,
    TeamsHandler,
    TeamWorkspacesHandler,
    TeamProjectsHandler,
  ],
})
export class PeopleModule {
  static with({ forgetting, tokenLifetime, quotas, organizationCreation }: PeopleOptions): DynamicModule {
    return {
      module: PeopleModule,
      providers: [
        { provide: NameEraser, useValue: forgetting },
        { provide: TOKEN_LIFETIME, useValue: tokenLifetime },
        { provide: Quotas, useValue: quotas },
        { provide: OrganizationCreation, useValue: organizationCreation },
      ],
    };
  }
}
