import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { OrganizationCreation, Quotas } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { NameEraser } from '#storage/personal-data';
import { memberActivityFollower } from './activity/member-activity.follower.js';
import { accessEpochs } from './users/access-epochs.projection.js';
import { access, teamNames, usernames } from './people.projection.js';
import { peopleEvents } from './people.events.js';
import { authenticationToken } from './authentication-tokens/authentication-token.js';
import { membership } from './memberships/membership.js';
import { peopleReads } from './reads.events.js';
import { session, sessionEvents } from './sessions/session.js';
import { sessions } from './sessions/sessions.view.js';
import { team } from './teams/team.js';
import { TEAM_NAMES } from './teams/team-names.js';
import { teamAccessEvents } from './team-access/team-access.events.js';
import { teamProjects, teamWorkspaces } from './team-access/team-access.view.js';
import { teamProject } from './team-access/team-project.js';
import { teamWorkspace } from './team-access/team-workspace.js';
import { USER_NAMES } from './users/user-names.js';
import { user } from './users/user.js';
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

export const peopleDefinition: ModuleDefinition = {
  // Not the name of the module: under this name databases remember which migrations of sql/ they have run
  // (libs/storage/event-store/migrations/migrate.ts).
  name: 'access',
  kinds: {
    ...peopleEvents,
    ...teamAccessEvents,
    ...peopleReads,
    ...sessionEvents,
  },
  aggregates: [
    defineAggregate('user', user),
    defineAggregate('ou', membership),
    defineAggregate('team', team),
    defineAggregate('tws', teamWorkspace),
    defineAggregate('tprj', teamProject),
    defineAggregate('at', authenticationToken),
    defineAggregate('ses', session),
  ],
  projections: [
    toProjection(accessEpochs),
    toProjection(access),
    toProjection(teamNames),
    toProjection(usernames),
    toProjection(teamWorkspaces),
    toProjection(teamProjects),
    toProjection(sessions),
  ],
  followers: [memberActivityFollower],
  uniqueNames: [TEAM_NAMES, USER_NAMES],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    { table: 'access.token_hashes', backup: 'rows', organizationExport: { without: 'tokens are not moved' } },
    { table: 'access.token_uses', backup: 'rows', organizationExport: { without: 'tokens are not moved' } },
    {
      table: 'access.epochs',
      backup: 'empty',
      because: 'gateways start again after a restore, without cached callers',
    },
  ],
};

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
