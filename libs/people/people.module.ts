import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Quotas } from '#kernel';
import { NameEraser } from '#event-store';
import { AuthenticationTokensController } from './authentication-tokens.controller.js';
import { DestroyTokenHandler, IssueTokenHandler, TOKEN_LIFETIME } from './authentication-tokens.handler.js';
import { AvatarsController } from './avatars.controller.js';
import {
  AddTeamProjectHandler,
  AddTeamWorkspaceHandler,
  ChangeTeamProjectHandler,
  ChangeTeamWorkspaceHandler,
} from './team-access.handler.js';
import { TeamProjectsController } from './team-projects.controller.js';
import { TeamWorkspacesController } from './team-workspaces.controller.js';
import { OrganizationMembershipsController } from './organization-memberships.controller.js';
import {
  AcceptMembershipHandler,
  InviteMemberHandler,
  RemoveMembershipHandler,
} from './organization-memberships.handler.js';
import { TeamsController } from './teams.controller.js';
import { ChangeTeamMembersHandler, CreateTeamHandler, TeamsHandler } from './teams.handler.js';
import type { TokenLifetime } from './token-lifetime.js';
import { UsersController } from './users.controller.js';
import { ForgetUserHandler, UsersHandler } from './users.handler.js';

export type PeopleOptions = {
  readonly forgetting: NameEraser;
  /** Null: tokens whose request names no end have none. */
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
