import { z } from 'zod';
import { defineResource, relatedAlways } from '#api/json-api/description';

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
  relationships: { organization: relatedAlways('organizations') },
});
