import { z } from 'zod';
import { always, defineResource, relatedAlways, timestamp } from '#api/json-api/description';

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
  relationships: { organization: relatedAlways('organizations') },
});
