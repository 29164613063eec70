import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { RecoverableItemsController } from './recoverable-items.controller.js';

/** Lists deleted resources and recovers them. Their modules keep the rows and decide. */
@Module({ imports: [CqrsModule], controllers: [RecoverableItemsController] })
export class RecoveryModule {}
