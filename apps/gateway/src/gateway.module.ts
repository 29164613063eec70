import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessModule } from '#access';
import { AuditTrailModule } from '#audit-trail';
import { FolderBlobs } from '#blob-store';
import { EdgeModule } from '#edge';
import { EventStoreModule } from '#event-store';
import { OrganizationsModule } from '#organizations';
import { StateModule } from '#state';
import { WorkspacesModule } from '#workspaces';
import type { House } from '../../house.js';

/** REST: the slices, and what they stand on. */
@Module({})
export class GatewayModule {
  static over(house: House): DynamicModule {
    const { encryptionKey, settings } = house;
    const { publicUrl } = settings;
    return {
      module: GatewayModule,
      imports: [
        CqrsModule.forRoot(),
        EventStoreModule.with(house),
        EdgeModule,
        AccessModule,
        OrganizationsModule.with(settings),
        WorkspacesModule,
        StateModule.with({ blobs: new FolderBlobs(settings.blobsFolder, house.clock), encryptionKey, publicUrl }),
        // The self-hosted edition has no audit trail (contract §5): its route is unknown then.
        ...(settings.edition === 'self-hosted' ? [] : [AuditTrailModule]),
      ],
    };
  }
}
