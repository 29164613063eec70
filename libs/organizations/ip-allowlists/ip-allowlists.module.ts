import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { IP_ALLOWLIST_NAMES } from './ip-allowlist-names.js';
import { ipAllowlist } from './ip-allowlist.js';
import { ipAllowlistEvents } from './ip-allowlists.events.js';
import { ipAllowlistEpochs, ipAllowlistNames, ipAllowlistRanges, ipAllowlists } from './ip-allowlists.view.js';
import { CidrRangeListsController } from './cidr-range-lists.controller.js';
import { CidrRangesController } from './cidr-ranges.controller.js';
import { IpAllowlistsHandler } from './ip-allowlists.handler.js';

export const ipAllowlistsDefinition: ModuleDefinition = {
  name: 'ip-allowlists',
  kinds: ipAllowlistEvents,
  aggregates: [defineAggregate('crl', ipAllowlist)],
  projections: [
    toProjection(ipAllowlists),
    toProjection(ipAllowlistNames),
    toProjection(ipAllowlistRanges),
    toProjection(ipAllowlistEpochs),
  ],
  followers: [],
  uniqueNames: [IP_ALLOWLIST_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [CidrRangeListsController, CidrRangesController],
  providers: [IpAllowlistsHandler],
})
export class IpAllowlistsModule {}
