import { defineResource, exampleText, serverPath, timestamp } from '#api/json-api/description';

export const auditFactSourceSchema = defineResource({
  name: 'AuditFactSource',
  type: 'audit-fact-sources',
  description: 'A service from which an organization accepts facts by Kafka.',
  exampleId: 'afs-4mQz8XvKc2YbT7Wn',
  attributes: {
    source: exampleText('https://policies.example.com', 'The source that the facts name.'),
    description: exampleText('Policy checks'),
    'created-at': timestamp(),
  },
  links: { self: serverPath('/api/v2/audit-fact-sources/afs-4mQz8XvKc2YbT7Wn') },
});
