import { describeBody, describeController, describeDocument } from '#api/json-api/description';
import { AuditTrailSettingsController, body } from './audit-trail-settings.controller.js';

const AUDIT_TRAIL_SETTINGS = {
  name: 'Audit trail settings',
  description: 'How long the audit trail of an organization keeps its entries.',
};

export const auditTrailSettingsOperations = describeController(AuditTrailSettingsController, AUDIT_TRAIL_SETTINGS, {
  show: {
    operationId: 'getAuditTrailSettings',
    summary: 'Show the settings of an audit trail',
    answer: describeDocument('AuditTrailSettings'),
  },
  update: {
    operationId: 'updateAuditTrailSettings',
    summary: 'Change the settings of an audit trail',
    description: 'With fewer days, older entries are deleted. Null keeps entries for ever.',
    body: describeBody(body, { data: { type: 'audit-trail-settings', attributes: { 'retention-days': 365 } } }),
    answer: describeDocument('AuditTrailSettings'),
    refusals: { unprocessable: 'The number of days is not a whole number from 1 to 36,500.' },
    events: ['AuditTrailRetentionChanged'],
  },
});
