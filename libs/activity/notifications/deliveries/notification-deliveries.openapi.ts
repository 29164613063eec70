import { describeController, describePage, pageParameters } from '#api/json-api/description';
import { NotificationDeliveriesController } from './notification-deliveries.controller.js';

const NOTIFICATION_DELIVERIES = {
  name: 'Notification deliveries',
  description: 'The notifications of the last 30 days, with the responses of their destinations.',
};

export const notificationDeliveriesOperations = describeController(
  NotificationDeliveriesController,
  NOTIFICATION_DELIVERIES,
  {
    list: {
      operationId: 'listNotificationDeliveries',
      summary: 'List the deliveries of a notification configuration',
      description: 'The newest delivery comes first.',
      query: pageParameters(),
      answer: describePage('NotificationDelivery'),
    },
  },
);
