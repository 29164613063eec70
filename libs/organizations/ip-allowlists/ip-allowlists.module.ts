import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CidrRangeListsController } from './cidr-range-lists.controller.js';
import { CidrRangesController } from './cidr-ranges.controller.js';
import { IpAllowlistsHandler } from './ip-allowlists.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [CidrRangeListsController, CidrRangesController],
  providers: [IpAllowlistsHandler],
})
export class IpAllowlistsModule {}
