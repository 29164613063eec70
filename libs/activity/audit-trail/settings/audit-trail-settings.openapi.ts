import { z } from 'zod';
import { defineResource, describeController, describeResourceBody, related } from '#api/json-api/description';
import { AuditTrailSettingsController, body } from './audit-trail-settings.controller.js';

export const auditTrailSettingsSchema = defineResource({
  name: 'AuditTrailSettings',
  type: 'audit-trail-settings',
  description: 'How long the audit trail of an organization keeps its entries.',
  exampleId: 'atrail-9Vx4kQbZ2TnYw7Lc',
  attributes: {
    'retention-days': z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'The number of days for which entries are kept; null for ever.', examples: [14] }),
  },
  relationships: { organization: related.always('organizations') },
});

const AUDIT_TRAIL_SETTINGS = {
  name: 'Audit trail settings',
  description: 'How long the audit trail of an organization keeps its entries.',
  resource: auditTrailSettingsSchema,
};

export const auditTrailSettingsOperations = describeController(AuditTrailSettingsController, AUDIT_TRAIL_SETTINGS, {
  show: { summary: 'Show the settings of an audit trail' },
  update: {
    summary: 'Change the settings of an audit trail',
    description: 'With fewer days, older entries are deleted. Null keeps entries for ever.',
    body: describeResourceBody(body, { 'retention-days': 365 }),
    refusals: { unprocessable: 'The number of days is not a whole number from 1 to 36,500.' },
    events: ['AuditTrailRetentionChanged'],
  },
});
