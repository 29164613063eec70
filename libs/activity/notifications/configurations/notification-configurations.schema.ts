import { z } from 'zod';
import {
  always,
  defineResource,
  exampleText,
  relatedAlways,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { DESTINATION_TYPES } from './destinations.js';
import { SUBSCRIBABLE_TYPES, TRIGGERS } from './triggers.js';

const header = z.array(z.string());

export const deliveryResponse = z
  .strictObject({
    url: exampleText('https://hooks.example.com/cadastre', 'The URL to which the request was sent; empty for e-mail.'),
    body: exampleText('ok', 'The beginning of the body; without a response, the reason.'),
    code: exampleText('200', 'The status of HTTP or SMTP; empty without a response.'),
    headers: z.record(z.string(), header).meta({
      description: 'The headers by lowercase name, without cookies.',
      examples: [{ 'content-type': ['text/plain'] }],
    }),
    'sent-at': timestamp('When the request was sent.'),
    successful: z
      .enum(['true', 'false'])
      .meta({ description: 'Whether the destination accepted it: a status of 2xx.', examples: ['true'] }),
  })
  .meta({ id: 'NotificationDeliveryResponse', description: 'What the destination of a notification answered.' });

export const notificationConfigurationSchema = defineResource({
  name: 'NotificationConfiguration',
  type: 'notification-configurations',
  description: 'Sends notifications about runs and workspaces to a URL or by e-mail.',
  exampleId: 'nc-7hVq2XnTb9KcRy4M',
  attributes: {
    name: exampleText('deployments'),
    'destination-type': z.enum(DESTINATION_TYPES).meta({ examples: ['generic'] }),
    enabled: z.boolean().meta({ description: 'If false, nothing is sent.', examples: [true] }),
    url: exampleText('https://hooks.example.com/cadastre', 'Null for e-mail.').nullable(),
    token: always(null).meta({ description: 'The token is write-only.' }),
    'email-addresses': z
      .array(z.string())
      .max(0)
      .meta({ description: 'Always empty. E-mails are sent to the related users.', examples: [[]] }),
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
    users: relatedMany('users').meta({
      description: 'The members of the organization who get e-mails. For a team, none means all members of the team.',
    }),
  },
  links: { self: serverPath('/api/v2/notification-configurations/nc-7hVq2XnTb9KcRy4M') },
});
