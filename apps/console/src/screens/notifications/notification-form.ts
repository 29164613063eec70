import { useState } from 'react';
import { endDirections } from '../../api/direction-controls.js';
import {
  useChangeNotification,
  type ListedNotification,
  type NotificationBody,
  type NotificationUpdate,
  type NotifyingOwner,
} from '../../api/notifications.js';
import { useForm } from '../../components/form.js';
import { reportAndClose } from '../../toasts.js';
import type { NotificationDestination, NotificationTrigger } from './notification-words.js';

type NotificationValues = {
  readonly name: string;
  readonly destination: NotificationDestination;
  readonly url: string;
  /** The new key of the signature; empty keeps the present one. */
  readonly token: string;
  readonly isTokenRemoved: boolean;
  readonly triggers: readonly NotificationTrigger[];
  /** Ids of the people who get e-mails. */
  readonly users: readonly string[];
  readonly enabled: boolean;
};

const NEW_NOTIFICATION: NotificationValues = {
  name: '',
  destination: 'generic',
  url: '',
  token: '',
  isTokenRemoved: false,
  triggers: ['run:needs_attention', 'run:errored'],
  users: [],
  enabled: true,
};

const toNotificationValues = (notification: ListedNotification | null): NotificationValues => {
  if (!notification) return NEW_NOTIFICATION;
  const { attributes, relationships } = notification;
  return {
    ...NEW_NOTIFICATION,
    name: attributes.name,
    destination: attributes['destination-type'],
    url: attributes.url ?? '',
    triggers: attributes.triggers,
    users: relationships.users.data.map(({ id }) => id),
    enabled: attributes.enabled,
  };
};

const toTokenBody = ({ destination, token, isTokenRemoved }: NotificationValues): Pick<NotificationBody, 'token'> => {
  if (destination !== 'generic') return {};
  if (isTokenRemoved) return { token: null };
  return token === '' ? {} : { token };
};

const toNewBody = (values: NotificationValues): NotificationBody => ({
  name: values.name,
  'destination-type': values.destination,
  triggers: [...values.triggers],
  enabled: values.enabled,
  ...(values.destination === 'email' ? {} : { url: values.url }),
  ...toTokenBody(values),
});

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((each) => other.includes(each));

/** Returns `present` with what the person has added to `opened`, and without what the person has removed from it. */
const applyChoice = <T extends string>(opened: readonly T[], chosen: readonly T[], present: readonly T[]): T[] => [
  ...present.filter((each) => chosen.includes(each) || !opened.includes(each)),
  ...chosen.filter((each) => !opened.includes(each) && !present.includes(each)),
];

type FormStates = {
  readonly opened: NotificationValues;
  readonly values: NotificationValues;
  readonly present: NotificationValues;
};

const toChangedAttributes = ({ opened, values, present }: FormStates): Partial<NotificationBody> => ({
  ...(values.name === opened.name ? {} : { name: values.name }),
  ...(values.url === opened.url ? {} : { url: values.url }),
  ...(values.enabled === opened.enabled ? {} : { enabled: values.enabled }),
  ...(isSameSet(values.triggers, opened.triggers)
    ? {}
    : { triggers: applyChoice(opened.triggers, values.triggers, present.triggers) }),
  ...toTokenBody(values),
});

/** Returns what the person has changed, so that the changes of other people stay. */
const toNotificationUpdate = ({ opened, values, present }: FormStates): NotificationUpdate => ({
  attributes: toChangedAttributes({ opened, values, present }),
  ...(isSameSet(values.users, opened.users) ? {} : { users: applyChoice(opened.users, values.users, present.users) }),
});

const isSame = (one: NotificationValues, other: NotificationValues): boolean =>
  one.name === other.name &&
  one.url === other.url &&
  one.enabled === other.enabled &&
  isSameSet(one.triggers, other.triggers) &&
  isSameSet(one.users, other.users);

/** The fields that show their own problems. `id` is the one of a person who gets e-mails. */
const FIELDS = ['name', 'destination-type', 'url', 'token', 'triggers', 'users', 'id', 'enabled'];

export type NotificationFormProps = {
  readonly organization: string;
  readonly owner: NotifyingOwner;
  /** The configuration that the person changes. Null for a new one. */
  readonly notification: ListedNotification | null;
  readonly onClose: () => void;
};

/** Keeps what the person enters, and sends it. */
export const useNotificationForm = ({ organization, owner, notification, onClose }: NotificationFormProps) => {
  const present = toNotificationValues(notification);
  const [opened, setOpened] = useState(present);
  const change = useChangeNotification(organization, owner);
  const form = useForm(opened, change);
  const { values } = form;
  const report = reportAndClose(`The notification ${endDirections(values.name)} is saved.`, onClose);
  const update = (id: string) => {
    if (isSame(opened, values) && values.token === '' && !values.isTokenRemoved) return onClose();
    const toUpdate = (now: ListedNotification) =>
      toNotificationUpdate({ opened, values, present: toNotificationValues(now) });
    return change.mutate({ action: 'update', id, toUpdate }, report);
  };
  return {
    form: { ...form, fields: FIELDS },
    isOutdated: !isSame(opened, present) && !change.isPending && !change.isSuccess,
    reset: () => {
      setOpened(present);
      form.reset();
    },
    save: () => {
      if (notification) return update(notification.id);
      const users = values.destination === 'email' ? values.users : [];
      return change.mutate({ action: 'create', attributes: toNewBody(values), users }, report);
    },
  };
};
