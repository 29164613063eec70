import { z } from 'zod';
import { count, defineResource, describeController, exampleText, related, timestamp } from '#api/json-api/description';
import { RUN_TRIGGERS, WORKSPACE_TRIGGERS } from '#platform/kernel';
import { deliveryResponse } from '../configurations/notification-configurations.openapi.js';
import { VERIFICATION } from '../configurations/triggers.js';
import { NotificationDeliveriesController } from './notification-deliveries.controller.js';

export const notificationDeliverySchema = defineResource({
  name: 'NotificationDelivery',
  type: 'notification-deliveries',
  description: 'A notification that was sent, or that waits for its next attempt.',
  noun: 'delivery',
  exampleId: 'nd-0b2f6a1c9d3e48f7a5c1e2d4b6f80917',
  attributes: {
    trigger: z.enum([...RUN_TRIGGERS, ...WORKSPACE_TRIGGERS, VERIFICATION]).meta({ examples: ['run:completed'] }),
    status: z.enum(['pending', 'delivered', 'failed']).meta({ examples: ['delivered'] }),
    attempts: count('How often the request was sent.'),
    'workspace-id': exampleText('ws-4nZ8kQwT2mYbRx7P').nullable(),
    'run-id': exampleText('run-6pLd3VxKc8WnTq5H').nullable(),
    response: deliveryResponse.nullable().meta({ description: 'The last response; null before the first attempt.' }),
    'created-at': timestamp('The time of the event.'),
    'attempted-at': timestamp('The time of the last attempt.').nullable(),
    'next-attempt-at': timestamp('Null unless the delivery is pending.').nullable(),
  },
  relationships: { 'notification-configuration': related.always('notification-configurations') },
});

const NOTIFICATION_DELIVERIES = {
  name: 'Notification deliveries',
  description: 'The notifications of the last 30 days, with the responses of their destinations.',
  resource: notificationDeliverySchema,
};

export const notificationDeliveriesOperations = describeController(
  NotificationDeliveriesController,
  NOTIFICATION_DELIVERIES,
  {
    list: { description: 'The newest delivery comes first.' },
  },
);
