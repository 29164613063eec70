import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeJson,
  describeResourceBody,
  exampleText,
  related,
  timestamp,
} from '#api/json-api/description';
import { AuditConfigurationsController, updateBody } from './audit-configurations.controller.js';

const noTimestamp = always(null);

export const auditConfigurationSchema = defineResource({
  name: 'AuditConfiguration',
  type: 'audit-configurations',
  description: 'Whether the audit trail of an organization records entries.',
  exampleId: 'atrail-9Vx4kQbZ2TnYw7Lc',
  attributes: {
    'audit-trails': z.strictObject({ enabled: z.boolean().meta({ examples: [true] }) }),
    'hcp-audit-log-streaming': z
      .strictObject({
        enabled: always(false),
        'organization-id': always(null),
        'use-default-organization': always(false),
      })
      .meta({ description: 'Always off, because HCP is a service of the vendor.' }),
    permissions: z
      .strictObject({
        'can-enable-hcp-audit-log-streaming': always(false),
        'can-set-hcp-audit-log-streaming-organization-id': always(false),
        'can-use-default-audit-log-streaming-organization': always(false),
      })
      .meta({ description: 'What the caller may do.' }),
    timestamps: z.strictObject({
      'audit-trails-enabled-at': timestamp('Null if the audit trail was never enabled again.').nullable(),
      'audit-trails-disabled-at': timestamp('Null if the audit trail was never disabled.').nullable(),
      'audit-trails-last-success': timestamp('When the newest entry was written; null if there is none.').nullable(),
      'audit-trails-last-failure': noTimestamp,
      'hcp-audit-log-streaming-enabled-at': noTimestamp,
      'hcp-audit-log-streaming-disabled-at': noTimestamp,
      'hcp-audit-log-streaming-last-success': noTimestamp,
      'hcp-audit-log-streaming-last-failure': noTimestamp,
    }),
    'updated-at': timestamp(),
  },
  relationships: { organization: related.always('organizations') },
});

const AUDIT_CONFIGURATIONS = {
  name: 'Audit configurations',
  description: 'Whether the audit trail of an organization records entries.',
  resource: auditConfigurationSchema,
};

export const auditConfigurationsOperations = describeController(AuditConfigurationsController, AUDIT_CONFIGURATIONS, {
  show: { summary: 'Show the audit configuration of an organization' },
  update: {
    summary: 'Enable or disable the audit trail of an organization',
    body: describeResourceBody(updateBody, { 'audit-trails': { enabled: true } }),
    events: ['AuditTrailEnabled', 'AuditTrailDisabled'],
  },
  test: {
    summary: 'Record a test entry in the audit trail of an organization',
    answer: describeJson(
      z.strictObject({
        'request-id': exampleText(
          '0c1d2e3f-4a5b-4c6d-8e7f-9a0b1c2d3e4f',
          'The id of this request, which the entry has too.',
        ),
      }),
      { mediaType: 'application/json', description: 'The audit trail has recorded the entry.' },
    ),
    refusals: {
      conflict: 'The audit trail is disabled, or the organization is not entitled to one.',
      unavailable: 'The audit trail did not record the entry in time. Retry after `Retry-After` seconds.',
    },
  },
});
