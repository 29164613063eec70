import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  type OperationDescription,
  related,
  timestamp,
} from '#api/json-api/description';
import { DESTINATION_TYPES } from './destinations.js';
import {
  createBody,
  updateBody,
  NotificationConfigurationsController,
} from './notification-configurations.controller.js';
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
    subscribable: related.always(...SUBSCRIBABLE_TYPES).meta({
      description: 'The workspace, team or organization that the configuration belongs to.',
    }),
    users: related.many('users').meta({
      description: 'The members of the organization who get e-mails. For a team, none means all members of the team.',
    }),
  },
  hasSelfLink: true,
});

const NOTIFICATION_CONFIGURATIONS = {
  name: 'Notification configurations',
  description:
    'Requests to a URL of yours, to Slack or to Microsoft Teams, or e-mails, when runs and workspaces change.',
  resource: notificationConfigurationSchema,
};

const refusals = {
  unprocessable:
    'A member is not valid, the owner has the largest number of configurations, the destination did not answer the test with a status of 2xx, or the server has no mail server.',
  'too-many': 'Too many tests of the organization wait for their destinations.',
};

const create = {
  description:
    'If `enabled` is true, the server first sends a test to the URL. The destination must answer with a status of 2xx. The server stores URL and token encrypted. With the `destination-type` `email`, the related `users` get e-mails, and nothing is tested.',
  body: describeResourceBody(createBody, {
    name: 'deployments',
    'destination-type': 'generic',
    url: 'https://hooks.example.com/cadastre',
    enabled: false,
  }),
  refusals,
} satisfies OperationDescription;

export const notificationConfigurationsOperations = describeController(
  NotificationConfigurationsController,
  NOTIFICATION_CONFIGURATIONS,
  {
    listOfWorkspace: {},
    listOfTeam: {},
    listOfOrganization: {},
    createOfWorkspace: create,
    createOfTeam: create,
    createOfOrganization: create,
    show: {},
    update: {
      description:
        'If the configuration is enabled after the change, the server first sends a test to the URL, as for the creation.',
      body: describeResourceBody(updateBody, { triggers: ['run:errored'] }),
      refusals,
      events: [
        'NotificationConfigurationUpdated',
        'NotificationConfigurationEnabled',
        'NotificationConfigurationDisabled',
      ],
    },
    destroy: { description: 'Notifications that are not sent yet are deleted.' },
    verify: {
      summary: 'Send a test to the destination of a notification configuration',
      description:
        'The document contains the response in `delivery-responses`, also if the status was not 2xx. With the `destination-type` `email`, all recipients get an e-mail, once a minute at most.',
      refusals: {
        unprocessable: 'The destination or the mail server did not answer, or the server has no mail server.',
        'too-many':
          'Too many tests of the organization wait for their destinations, or the last e-mail was sent less than a minute ago.',
      },
    },
  },
);
