import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { SavedViewsController } from './saved-views.controller.js';
import { SavedViewsHandler } from './saved-views.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [SavedViewsController],
  providers: [SavedViewsHandler],
})
export class SavedViewsModule {}
