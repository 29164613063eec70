export {
  createNotificationDeliveriesDefinition,
  notificationsDefinition,
  NotificationsModule,
} from './notifications.module.js';
export {
  createNotificationDeliveriesJob,
  type NotificationDeliveriesDependencies,
} from './deliveries/notification-deliveries.job.js';
export { createNotificationRetentionJob } from './deliveries/notification-retention.job.js';
export { createDestinationFetch } from './deliveries/notification.sender.js';
