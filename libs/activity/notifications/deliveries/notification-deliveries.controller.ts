import { Controller, Get, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { renderList, type Document, type PageRequest } from '#api/json-api';
import { Database } from '#platform/postgres';
import { NotificationSecrets } from '../configurations/notification-secrets.service.js';
import { listDeliveries } from './notification-deliveries.queries.js';
import { renderDelivery } from './notification-deliveries.renderer.js';

@Controller('api/v2')
export class NotificationDeliveriesController {
  constructor(
    private readonly database: Database,
    private readonly secrets: NotificationSecrets,
  ) {}

  @Get('notification-configurations/:id/deliveries')
  list(
    @Param('id') configuration: string,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const list = (page: PageRequest) => listDeliveries(this.database, actor, configuration, page);
    return renderList(request, list, (row) => renderDelivery(row, this.secrets));
  }
}
