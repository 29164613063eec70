import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  timestamp,
} from '#api/json-api/description';
import { AuditFactSourcesController, createBody } from './audit-fact-sources.controller.js';

export const auditFactSourceSchema = defineResource({
  name: 'AuditFactSource',
  type: 'audit-fact-sources',
  description: 'A service from which an organization accepts facts by Kafka.',
  noun: 'fact source',
  exampleId: 'afs-4mQz8XvKc2YbT7Wn',
  attributes: {
    source: exampleText('https://policies.example.com', 'The source that the facts name.'),
    description: exampleText('Policy checks'),
    'created-at': timestamp(),
  },
  hasSelfLink: true,
});

const AUDIT_FACT_SOURCES = {
  name: 'Audit fact sources',
  description: 'Services from which an organization accepts facts by Kafka.',
  resource: auditFactSourceSchema,
};

export const auditFactSourcesOperations = describeController(AuditFactSourcesController, AUDIT_FACT_SOURCES, {
  list: {},
  create: {
    summary: 'Register a fact source',
    body: describeResourceBody(createBody, { source: 'https://policies.example.com', description: 'Policy checks' }),
    refusals: { unprocessable: 'The source is not valid or registered already, or there are too many sources.' },
    events: ['AuditFactSourceRegistered'],
  },
  show: {},
  destroy: { summary: 'Remove a fact source', events: ['AuditFactSourceRemoved'] },
});
