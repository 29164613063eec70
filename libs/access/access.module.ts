import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessInterceptor } from './access.interceptor.js';
import { AuthenticateGuard } from './authenticate.guard.js';
import { AuthenticationTokensController } from './authentication-tokens.controller.js';
import { DestroyTokenHandler, IssueTokenHandler } from './authentication-tokens.handler.js';
import { TokenUses } from './authentication-tokens.uses.js';
import { Authenticator } from './authenticator.js';
import {
  AddTeamProjectHandler,
  AddTeamWorkspaceHandler,
  ToTeamProjectHandler,
  ToTeamWorkspaceHandler,
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
import { UsersController } from './users.controller.js';
import { UsersHandler } from './users.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [
    AuthenticationTokensController,
    TeamProjectsController,
    TeamWorkspacesController,
    OrganizationMembershipsController,
    TeamsController,
    UsersController,
  ],
  providers: [
    Authenticator,
    TokenUses,
    IssueTokenHandler,
    DestroyTokenHandler,
    UsersHandler,
    InviteMemberHandler,
    AcceptMembershipHandler,
    RemoveMembershipHandler,
    CreateTeamHandler,
    TeamsHandler,
    ChangeTeamMembersHandler,
    AddTeamWorkspaceHandler,
    ToTeamWorkspaceHandler,
    AddTeamProjectHandler,
    ToTeamProjectHandler,
    { provide: APP_GUARD, useClass: AuthenticateGuard },
    { provide: APP_INTERCEPTOR, useClass: AccessInterceptor },
  ],
  exports: [Authenticator],
})
export class AccessModule {}
