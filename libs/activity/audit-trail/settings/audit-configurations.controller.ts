import { Body, Controller, Get, Header, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  parseBody,
  unsupportedMember,
  resourceBody,
  toOne,
  type Document,
  type Resource,
} from '#api/json-api';
import { findAuditConfiguration, type AuditConfigurationRow } from './audit-configurations.view.js';
import { ChangeTrailSettings } from './audit-trail-settings.handler.js';
import { toTrailSettingsStream } from './audit-trail-settings.js';

const TYPE = 'audit-configurations';
const STREAMING = 'hcp-audit-log-streaming';

const NO_STREAMING = 'HCP is a service of the vendor. Read the audit trail, or subscribe to the topics in Kafka';

const streaming = z.object({
  enabled: unsupportedMember(NO_STREAMING),
  'organization-id': unsupportedMember(NO_STREAMING),
  'use-default-organization': unsupportedMember(NO_STREAMING),
});

export const updateBody = resourceBody(
  TYPE,
  z
    .object({
      'audit-trails': z.object({ enabled: z.boolean().optional() }).nullable().optional(),
      [STREAMING]: streaming.nullable().optional(),
    })
    .default({}),
);

const renderAuditConfiguration = (row: AuditConfigurationRow): Resource => ({
  id: toTrailSettingsStream(row.organization),
  type: TYPE,
  attributes: {
    'audit-trails': { enabled: row.enabled },
    [STREAMING]: { enabled: false, 'organization-id': null, 'use-default-organization': false },
    permissions: {
      'can-enable-hcp-audit-log-streaming': false,
      'can-set-hcp-audit-log-streaming-organization-id': false,
      'can-use-default-audit-log-streaming-organization': false,
    },
    timestamps: {
      'audit-trails-enabled-at': row.enabledAt,
      'audit-trails-disabled-at': row.disabledAt,
      'audit-trails-last-success': row.lastEntryAt,
      'audit-trails-last-failure': null,
      'hcp-audit-log-streaming-enabled-at': null,
      'hcp-audit-log-streaming-disabled-at': null,
      'hcp-audit-log-streaming-last-success': null,
      'hcp-audit-log-streaming-last-failure': null,
    },
    'updated-at': row.updatedAt,
  },
  relationships: { organization: toOne('organizations', row.organizationName) },
});

/**
 * Whether an organization's audit trail records entries (go-tfe `organization_audit_configuration.go`).
 */
@Controller('api/v2/organizations/:organization/audit-configuration')
export class AuditConfigurationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async show(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderAuditConfiguration(await findAuditConfiguration(this.database, actor, organization)));
  }

  @Patch()
  async update(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { 'audit-trails': trails } = parseBody(updateBody, body).data.attributes;
    const input = { organization, enabled: trails?.enabled, actor };
    const row = await this.bus.execute(new ChangeTrailSettings('SwitchAuditTrail', input));
    return renderDocument(renderAuditConfiguration(row));
  }

  /** Returns plain JSON as bytes, because Fastify adds a charset to the media type of a string. */
  @Post('test')
  @HttpCode(200)
  @Header('content-type', 'application/json')
  async test(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    const requestId = await this.bus.execute(new ChangeTrailSettings('TestAuditTrail', { organization, actor }));
    return Buffer.from(JSON.stringify({ 'request-id': requestId }));
  }
}
