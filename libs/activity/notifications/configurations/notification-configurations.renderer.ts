import { toMany, toOne, type Resource } from '#api/json-api';
import type { DeliveryResponse } from '../deliveries/notification.sender.js';
import type { NotificationConfigurationRow } from './notification-configurations.view.js';
import type { NotificationSecrets } from './notification-secrets.service.js';

/** Renders a response with the members of the vendor's API, where all values but the headers are texts. */
export const renderResponse = ({ url, body, code, headers, sentAt, successful }: DeliveryResponse) => ({
  url,
  body,
  code,
  headers,
  'sent-at': sentAt,
  successful: String(successful),
});

const renderSubscribable = ({ ownerType, owner, organizationName }: NotificationConfigurationRow) =>
  ownerType === 'organizations'
    ? toOne(ownerType, organizationName, `/api/v2/organizations/${organizationName}`)
    : toOne(ownerType, owner, `/api/v2/${ownerType}/${owner}`);

/** Renders configurations with their URL or the people who get e-mails. The token is write-only, so it is always null. */
export class NotificationConfigurationsRenderer {
  constructor(private readonly secrets: NotificationSecrets) {}

  render(row: NotificationConfigurationRow): Resource {
    return {
      id: row.id,
      type: 'notification-configurations',
      attributes: {
        name: row.name,
        'destination-type': row.destinationType,
        enabled: row.enabled,
        url:
          row.destinationType === 'email' ? null : this.secrets.openDestination(row.id, row.encryptedDestination).url,
        token: null,
        'email-addresses': [],
        triggers: row.triggers,
        'delivery-responses': row.responses.map((response) => renderResponse(this.secrets.openResponse(response))),
        'created-at': row.createdAt,
        'updated-at': row.updatedAt,
      },
      relationships: { subscribable: renderSubscribable(row), users: toMany('users', row.users) },
      links: { self: `/api/v2/notification-configurations/${row.id}` },
    };
  }
}
