import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditFactsController } from './audit-facts.controller.js';
import { ReportFactsHandler } from './facts.handler.js';

@Module({ imports: [CqrsModule], controllers: [AuditFactsController], providers: [ReportFactsHandler] })
export class FactsModule {}
