import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { DataRetentionPolicyDeleteOldersController } from './data-retention-policy-delete-olders.controller.js';
import { DataRetentionPoliciesHandler } from './data-retention-policies.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [DataRetentionPolicyDeleteOldersController],
  providers: [DataRetentionPoliciesHandler],
})
export class RetentionModule {}
