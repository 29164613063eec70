import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Quotas } from '#platform/kernel';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { scimGroup } from './groups/scim-group.js';
import type { GroupStatements } from './groups/group-statements.port.js';
import { createScimTeamsFollower } from './groups/scim-teams.follower.js';
import { scimEvents } from './scim.events.js';
import { scimGroups, scimUsers } from './scim.projection.js';
import { scimUser } from './users/scim-user.js';
import { ScimGroupsController } from './groups/scim-groups.controller.js';
import { ScimGroupsHandler } from './groups/scim-groups.handler.js';
import { SCIM_BASE_URL, ScimProtocolController } from './protocol/scim-protocol.controller.js';
import { ScimUsersController } from './users/scim-users.controller.js';
import { ScimUsersHandler } from './users/scim-users.handler.js';

export const createScimDefinition = (statements: GroupStatements): ModuleDefinition => ({
  name: 'scim',
  kinds: scimEvents,
  aggregates: [defineAggregate('scu', scimUser), defineAggregate('scg', scimGroup)],
  projections: [toProjection(scimUsers), toProjection(scimGroups)],
  followers: [createScimTeamsFollower(statements)],
  migrations: new URL('./sql/', import.meta.url),
});

type ScimModuleOptions = { readonly quotas: Quotas; readonly publicUrl: string };

/** SCIM 2.0 (RFC 7643, RFC 7644): an identity provider manages users and groups. */
@Module({
  imports: [CqrsModule],
  controllers: [ScimProtocolController, ScimUsersController, ScimGroupsController],
  providers: [ScimUsersHandler, ScimGroupsHandler],
})
export class ScimModule {
  static with({ quotas, publicUrl }: ScimModuleOptions): DynamicModule {
    return {
      module: ScimModule,
      providers: [
        { provide: Quotas, useValue: quotas },
        { provide: SCIM_BASE_URL, useValue: `${publicUrl}/scim/v2` },
      ],
    };
  }
}
