import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readDocument, requireSuccess, requireUnchanging } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

export type ListedNotification = ApiResource<'NotificationConfiguration'>;
export type ListedDelivery = ApiResource<'NotificationDelivery'>;

/** The workspace, team or organization that sends the notifications. An organization has its name as id. */
export type NotifyingOwner = { readonly kind: 'workspace' | 'team' | 'organization'; readonly id: string };

/** More than an owner can have. */
const ALL = 100;
const DELIVERIES_IN_PAGE = 20;
/** The live stream has no messages about configurations and deliveries. */
const REFRESH_MS = 10_000;

const TYPE = 'notification-configurations';

const notificationsKey = (organization: string) => [...organizationKey(organization), 'notifications'] as const;

const readNotifications = ({ kind, id }: NotifyingOwner, signal: AbortSignal) => {
  const query = { 'page[size]': ALL };
  if (kind === 'organization') {
    const params = { path: { organization: id }, query };
    const path = '/api/v2/organizations/{organization}/notification-configurations';
    return readDocument(api.GET(path, { params, signal }));
  }
  const params = { path: { id }, query };
  return kind === 'team'
    ? readDocument(api.GET('/api/v2/teams/{id}/notification-configurations', { params, signal }))
    : readDocument(api.GET('/api/v2/workspaces/{id}/notification-configurations', { params, signal }));
};

/** The notification configurations of an owner, with the last answers of their destinations. */
export const notificationsQuery = (organization: string, owner: NotifyingOwner) =>
  queryOptions({
    queryKey: [...notificationsKey(organization), owner.kind, owner.id],
    refetchInterval: REFRESH_MS,
    queryFn: async ({ signal }) => (await readNotifications(owner, signal)).data,
  });

/** The notifications of the last 30 days of a configuration, the newest first, page by page. */
export const deliveriesQuery = (organization: string, id: string) =>
  pagedQuery(
    [...notificationsKey(organization), 'deliveries', id],
    (page, signal) => {
      const params = { path: { id }, query: { ...page, 'page[size]': DELIVERIES_IN_PAGE } };
      return readDocument(api.GET('/api/v2/notification-configurations/{id}/deliveries', { params, signal }));
    },
    { refetchInterval: REFRESH_MS },
  );

export type NotificationBody = RequestResource<'createWorkspaceNotificationConfiguration'>['attributes'];

export type NotificationUpdate = {
  readonly attributes: Partial<NotificationBody>;
  /** Undefined keeps the people who get e-mails. */
  readonly users?: readonly string[] | undefined;
};

type NotificationChange =
  | { readonly action: 'create'; readonly attributes: NotificationBody; readonly users: readonly string[] }
  | {
      readonly action: 'update';
      readonly id: string;
      /** Gets the present configuration, because other people may have changed it since the screen read it. */
      readonly toUpdate: (present: ListedNotification) => NotificationUpdate;
    }
  | { readonly action: 'delete'; readonly id: string };

const toRelationships = (users: readonly string[]) => ({
  relationships: { users: { data: users.map((id) => ({ type: 'users' as const, id })) } },
});

const createNotification = (
  { kind, id }: NotifyingOwner,
  { attributes, users }: Extract<NotificationChange, { readonly action: 'create' }>,
): Promise<void> => {
  const body = { data: { type: TYPE, attributes, ...(users.length > 0 ? toRelationships(users) : {}) } } as const;
  if (kind === 'organization') {
    const path = '/api/v2/organizations/{organization}/notification-configurations';
    return requireSuccess(api.POST(path, { params: { path: { organization: id } }, body }));
  }
  const params = { path: { id } };
  return kind === 'team'
    ? requireSuccess(api.POST('/api/v2/teams/{id}/notification-configurations', { params, body }))
    : requireSuccess(api.POST('/api/v2/workspaces/{id}/notification-configurations', { params, body }));
};

const sendNotificationChange = async (owner: NotifyingOwner, change: NotificationChange): Promise<void> => {
  if (change.action === 'create') return createNotification(owner, change);
  const path = '/api/v2/notification-configurations/{id}';
  const params = { path: { id: change.id } };
  if (change.action === 'delete') return requireSuccess(api.DELETE(path, { params }));
  const present = await requireUnchanging(readDocument(api.GET(path, { params })));
  const { attributes, users } = change.toUpdate(present.data);
  const body = { data: { type: TYPE, attributes, ...(users ? toRelationships(users) : {}) } } as const;
  return requireSuccess(api.PATCH(path, { params, body }));
};

/** Creates, changes or deletes a notification configuration. */
export const useChangeNotification = (organization: string, owner: NotifyingOwner) =>
  useChange({
    mutationFn: (change: NotificationChange) => sendNotificationChange(owner, change),
    // The request can have the key of the signature.
    gcTime: 0,
    rereads: notificationsKey(organization),
  });

/** Sends a test to the destination of a configuration, and returns the configuration with the answer. */
export const useVerifyNotification = (organization: string, id: string) =>
  useChange({
    mutationFn: async () => {
      const path = '/api/v2/notification-configurations/{id}/actions/verify';
      return (await requireUnchanging(readDocument(api.POST(path, { params: { path: { id } } })))).data;
    },
    rereads: notificationsKey(organization),
  });
