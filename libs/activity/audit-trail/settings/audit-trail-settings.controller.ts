import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, parseBody, resourceBody, type Document, type Resource } from '#api/json-api';
import { ChangeTrailSettings } from './audit-trail-settings.handler.js';
import { findTrailSettings, type TrailSettingsRow } from './audit-trail-settings.view.js';
import { toTrailSettingsStream } from './audit-trail-settings.js';

const TYPE = 'audit-trail-settings';

export const body = resourceBody(TYPE, z.object({ 'retention-days': z.number().nullable().optional() }).default({}));

const renderTrailSettings = ({ organization, organizationName, retentionDays }: TrailSettingsRow): Resource => ({
  id: toTrailSettingsStream(organization),
  type: TYPE,
  attributes: { 'retention-days': retentionDays },
  relationships: { organization: { data: { type: 'organizations', id: organizationName } } },
});

@Controller(`api/v2/organizations/:organization/${TYPE}`)
export class AuditTrailSettingsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async show(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTrailSettings(await findTrailSettings(this.database, actor, organization)));
  }

  @Patch()
  async update(
    @Param('organization') organization: string,
    @Body() request: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { 'retention-days': retentionDays } = parseBody(body, request).data.attributes;
    const input = { organization, retentionDays, actor };
    const row = await this.bus.execute(new ChangeTrailSettings('ChangeAuditTrailRetention', input));
    return renderDocument(renderTrailSettings(row));
  }
}
