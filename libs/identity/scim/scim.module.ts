import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Quotas } from '#platform/kernel';
import { ScimGroupsController } from './groups/scim-groups.controller.js';
import { ScimGroupsHandler } from './groups/scim-groups.handler.js';
import { SCIM_BASE_URL, ScimProtocolController } from './protocol/scim-protocol.controller.js';
import { ScimUsersController } from './users/scim-users.controller.js';
import { ScimUsersHandler } from './users/scim-users.handler.js';

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
