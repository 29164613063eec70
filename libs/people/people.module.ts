import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Quotas } from '#kernel';
import { NameEraser } from '#personal-data';
import { AuthenticationTokensController } from './authentication-tokens/authentication-tokens.controller.js';
import {
  DestroyTokenHandler,
  IssueTokenHandler,
  TOKEN_LIFETIME,
} from './authentication-tokens/authentication-tokens.handler.js';
import { AvatarsController } from './users/avatars.controller.js';
import {
  AddTeamProjectHandler,
  AddTeamWorkspaceHandler,
  ChangeTeamProjectHandler,
  ChangeTeamWorkspaceHandler,
} from './team-access/team-access.handler.js';
import { TeamProjectsController } from './team-access/team-projects.controller.js';
import { TeamWorkspacesController } from './team-access/team-workspaces.controller.js';
import { OrganizationMembershipsController } from './memberships/organization-memberships.controller.js';
import {
  AcceptMembershipHandler,
  InviteMemberHandler,
  RemoveMembershipHandler,
} from './memberships/organization-memberships.handler.js';
import { TeamsController } from './teams/teams.controller.js';
import { ChangeTeamMembersHandler, CreateTeamHandler, TeamsHandler } from './teams/teams.handler.js';
import type { TokenLifetime } from './authentication-tokens/token-lifetime.js';
import { UsersController } from './users/users.controller.js';
import { ForgetUserHandler, UsersHandler } from './users/users.handler.js';

export type PeopleOptions = {
  readonly forgetting: NameEraser;
  /** Null: tokens whose request names no expiry time never expire. */
  readonly tokenLifetime: TokenLifetime | null;
  readonly quotas: Quotas;
};

@Module({
  imports: [CqrsModule],
  controllers: [
    AvatarsController,
    AuthenticationTokensController,
    TeamProjectsController,
    TeamWorkspacesController,
    OrganizationMembershipsController,
    TeamsController,
    UsersController,
  ],
  providers: [
    IssueTokenHandler,
    DestroyTokenHandler,
    UsersHandler,
    ForgetUserHandler,
    InviteMemberHandler,
    AcceptMembershipHandler,
    RemoveMembershipHandler,
    CreateTeamHandler,
    TeamsHandler,
    ChangeTeamMembersHandler,
    AddTeamWorkspaceHandler,
    ChangeTeamWorkspaceHandler,
    AddTeamProjectHandler,
    ChangeTeamProjectHandler,
  ],
})
export class PeopleModule {
  static with({ forgetting, tokenLifetime, quotas }: PeopleOptions): DynamicModule {
    return {
      module: PeopleModule,
      providers: [
        { provide: NameEraser, useValue: forgetting },
        { provide: TOKEN_LIFETIME, useValue: tokenLifetime },
        { provide: Quotas, useValue: quotas },
      ],
    };
  }
}
