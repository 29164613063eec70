import { toOne, type Resource } from '#api/json-api';
import { renderResponse } from '../configurations/notification-configurations.renderer.js';
import type { NotificationSecrets } from '../configurations/notification-secrets.service.js';
import type { NotificationDeliveryRow } from './notification-deliveries.queries.js';

export const renderDelivery = (row: NotificationDeliveryRow, secrets: NotificationSecrets): Resource => ({
  id: row.id,
  type: 'notification-deliveries',
  attributes: {
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    'workspace-id': row.workspace,
    'run-id': row.run,
    response:
      row.encryptedResponse === null
        ? null
        : renderResponse(secrets.openResponse({ delivery: row.id, encrypted: row.encryptedResponse })),
    'created-at': row.createdAt,
    'attempted-at': row.attemptedAt,
    'next-attempt-at': row.nextAttemptAt,
  },
  relationships: {
    'notification-configuration': toOne(
      'notification-configurations',
      row.configuration,
      `/api/v2/notification-configurations/${row.configuration}`,
    ),
  },
});
