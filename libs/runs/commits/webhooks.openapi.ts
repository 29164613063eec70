import { describeController, describeEmpty, describeFileBody } from '#api/json-api/description';
import { WebhooksController } from './webhooks.controller.js';

export const webhooksOperations = describeController(
  WebhooksController,
  {
    name: 'Webhooks of Git hosts',
    description: 'Deliveries of the webhooks that the server has created at Git hosts.',
  },
  {
    receive: {
      operationId: 'receiveVcsWebhook',
      summary: 'Receive a delivery of a Git host',
      description:
        'The signature of the Git host replaces the token. A delivery makes the server read the repository at once. A repeated delivery changes nothing.',
      body: describeFileBody('A JSON document of the Git host of at most 4 MiB.'),
      answer: describeEmpty(),
      refusals: {
        'bad-request': 'The body is no delivery of this kind of Git host.',
        forbidden: 'The delivery is not signed with the secret of the webhook.',
        'not-found': 'There is no such webhook, or not any more.',
        'too-large': 'The delivery has more than 4 MiB.',
      },
    },
  },
);
