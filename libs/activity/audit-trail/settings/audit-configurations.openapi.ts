import { z } from 'zod';
import {
  describeBody,
  describeController,
  describeDocument,
  describeJson,
  exampleText,
} from '#api/json-api/description';
import { AuditConfigurationsController, updateBody } from './audit-configurations.controller.js';

const AUDIT_CONFIGURATIONS = {
  name: 'Audit configurations',
  description: 'Whether the audit trail of an organization records entries.',
};

export const auditConfigurationsOperations = describeController(AuditConfigurationsController, AUDIT_CONFIGURATIONS, {
  show: {
    operationId: 'getAuditConfiguration',
    summary: 'Show the audit configuration of an organization',
    answer: describeDocument('AuditConfiguration'),
  },
  update: {
    operationId: 'updateAuditConfiguration',
    summary: 'Enable or disable the audit trail of an organization',
    body: describeBody(updateBody, {
      data: { type: 'audit-configurations', attributes: { 'audit-trails': { enabled: true } } },
    }),
    answer: describeDocument('AuditConfiguration'),
    events: ['AuditTrailEnabled', 'AuditTrailDisabled'],
  },
  test: {
    operationId: 'testAuditConfiguration',
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
