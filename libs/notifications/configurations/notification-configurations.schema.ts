import { z } from 'zod';
import { always, defineResource, exampleText, relatedAlways, serverPath, timestamp } from '#json-api/description';
import { DESTINATION_TYPES } from './destinations.js';
import { SUBSCRIBABLE_TYPES, TRIGGERS } from './triggers.js';

const header = z.array(z.string());

export const deliveryResponse = z
  .strictObject({
    url: exampleText('https://hooks.example.com/cadastre', 'The URL to which the request was sent.'),
    body: exampleText('ok', 'The beginning of the body; without a response, the reason.'),
    code: exampleText('200', 'The status; empty without a response.'),
    headers: z.record(z.string(), header).meta({
      description: 'The headers by lowercase name, without cookies.',
      examples: [{ 'content-type': ['text/plain'] }],
    }),
    'sent-at': timestamp('When the request was sent.'),
    successful: z.enum(['true', 'false']).meta({ description: 'Whether the status was 2xx.', examples: ['true'] }),
  })
  .meta({ id: 'NotificationDeliveryResponse', description: 'What the destination of a notification answered.' });

export const notificationConfigurationSchema = defineResource({
  name: 'NotificationConfiguration',
  type: 'notification-configurations',
  description: 'Sends notifications about runs and workspaces to a URL.',
  exampleId: 'nc-7hVq2XnTb9KcRy4M',
  attributes: {
    name: exampleText('deployments'),
    'destination-type': z.enum(DESTINATION_TYPES).meta({ examples: ['generic'] }),
    enabled: z.boolean().meta({ description: 'If false, nothing is sent.', examples: [true] }),
    url: exampleText('https://hooks.example.com/cadastre'),
    token: always(null).meta({ description: 'The token is write-only.' }),
    triggers: z.array(z.enum(TRIGGERS)).meta({ examples: [['run:completed', 'run:errored']] }),
    'delivery-responses': z
      .array(deliveryResponse)
      .meta({ description: 'The last responses of the destination, the newest first.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
  relationships: {
    subscribable: relatedAlways(...SUBSCRIBABLE_TYPES).meta({
      description: 'The workspace, team or organization that the configuration belongs to.',
    }),
  },
  links: { self: serverPath('/api/v2/notification-configurations/nc-7hVq2XnTb9KcRy4M') },
});
