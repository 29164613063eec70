import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
  type OperationDescription,
} from '#api/json-api/description';
import { createBody, updateBody } from './notification-configurations.body.js';
import { NotificationConfigurationsController } from './notification-configurations.controller.js';

const NOTIFICATION_CONFIGURATIONS = {
  name: 'Notification configurations',
  description:
    'Requests to a URL of yours, to Slack or to Microsoft Teams, or e-mails, when runs and workspaces change.',
};

const refusals = {
  unprocessable:
    'A member is not valid, the owner has the largest number of configurations, the destination did not answer the test with a status of 2xx, or the server has no mail server.',
  'too-many': 'Too many tests of the organization wait for their destinations.',
};

const list = {
  query: pageParameters(),
  answer: describePage('NotificationConfiguration'),
} satisfies Partial<OperationDescription>;

const create = {
  description:
    'If `enabled` is true, the server first sends a test to the URL. The destination must answer with a status of 2xx. The server stores URL and token encrypted. With the `destination-type` `email`, the related `users` get e-mails, and nothing is tested.',
  body: describeBody(createBody, {
    data: {
      type: 'notification-configurations',
      attributes: {
        name: 'deployments',
        'destination-type': 'generic',
        url: 'https://hooks.example.com/cadastre',
        enabled: false,
      },
    },
  }),
  answer: describeDocument('NotificationConfiguration'),
  refusals,
} satisfies Partial<OperationDescription>;

export const notificationConfigurationsOperations = describeController(
  NotificationConfigurationsController,
  NOTIFICATION_CONFIGURATIONS,
  {
    listOfWorkspace: {
      ...list,
      operationId: 'listWorkspaceNotificationConfigurations',
      summary: 'List the notification configurations of a workspace',
    },
    listOfTeam: {
      ...list,
      operationId: 'listTeamNotificationConfigurations',
      summary: 'List the notification configurations of a team',
    },
    listOfOrganization: {
      ...list,
      operationId: 'listOrganizationNotificationConfigurations',
      summary: 'List the notification configurations of an organization',
    },
    createOfWorkspace: {
      ...create,
      operationId: 'createWorkspaceNotificationConfiguration',
      summary: 'Create a notification configuration of a workspace',
    },
    createOfTeam: {
      ...create,
      operationId: 'createTeamNotificationConfiguration',
      summary: 'Create a notification configuration of a team',
    },
    createOfOrganization: {
      ...create,
      operationId: 'createOrganizationNotificationConfiguration',
      summary: 'Create a notification configuration of an organization',
    },
    show: {
      operationId: 'getNotificationConfiguration',
      summary: 'Show a notification configuration',
      answer: describeDocument('NotificationConfiguration'),
    },
    update: {
      operationId: 'updateNotificationConfiguration',
      summary: 'Change a notification configuration',
      description:
        'If the configuration is enabled after the change, the server first sends a test to the URL, as for the creation.',
      body: describeBody(updateBody, {
        data: { type: 'notification-configurations', attributes: { triggers: ['run:errored'] } },
      }),
      answer: describeDocument('NotificationConfiguration'),
      refusals,
      events: [
        'NotificationConfigurationUpdated',
        'NotificationConfigurationEnabled',
        'NotificationConfigurationDisabled',
      ],
    },
    destroy: {
      operationId: 'deleteNotificationConfiguration',
      summary: 'Delete a notification configuration',
      description: 'Notifications that are not sent yet are deleted.',
      answer: describeEmpty(),
    },
    verify: {
      operationId: 'verifyNotificationConfiguration',
      summary: 'Send a test to the destination of a notification configuration',
      description:
        'The document contains the response in `delivery-responses`, also if the status was not 2xx. With the `destination-type` `email`, all recipients get an e-mail, once a minute at most.',
      answer: describeDocument('NotificationConfiguration'),
      refusals: {
        unprocessable: 'The destination or the mail server did not answer, or the server has no mail server.',
        'too-many':
          'Too many tests of the organization wait for their destinations, or the last e-mail was sent less than a minute ago.',
      },
    },
  },
);
