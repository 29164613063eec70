import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { createBody, AuditFactSourcesController } from './audit-fact-sources.controller.js';

const AUDIT_FACT_SOURCES = {
  name: 'Audit fact sources',
  description: 'Services from which an organization accepts facts by Kafka.',
};

export const auditFactSourcesOperations = describeController(AuditFactSourcesController, AUDIT_FACT_SOURCES, {
  list: {
    operationId: 'listAuditFactSources',
    summary: 'List the fact sources of an organization',
    query: pageParameters(),
    answer: describePage('AuditFactSource'),
  },
  create: {
    operationId: 'createAuditFactSource',
    summary: 'Register a fact source',
    body: describeBody(createBody, {
      data: {
        type: 'audit-fact-sources',
        attributes: { source: 'https://policies.example.com', description: 'Policy checks' },
      },
    }),
    answer: describeDocument('AuditFactSource'),
    refusals: { unprocessable: 'The source is not valid or registered already, or there are too many sources.' },
    events: ['AuditFactSourceRegistered'],
  },
  show: {
    operationId: 'getAuditFactSource',
    summary: 'Show a fact source',
    answer: describeDocument('AuditFactSource'),
  },
  destroy: {
    operationId: 'deleteAuditFactSource',
    summary: 'Remove a fact source',
    answer: describeEmpty(),
    events: ['AuditFactSourceRemoved'],
  },
});
