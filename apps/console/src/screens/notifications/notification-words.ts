import type { ListedNotification, NotifyingOwner } from '../../api/notifications.js';

type NotificationAttributes = ListedNotification['attributes'];
export type NotificationTrigger = NotificationAttributes['triggers'][number];
export type NotificationDestination = NotificationAttributes['destination-type'];

export const DESTINATIONS: readonly { readonly value: NotificationDestination; readonly label: string }[] = [
  { value: 'generic', label: 'URL' },
  { value: 'slack', label: 'Slack' },
  { value: 'microsoft-teams', label: 'Teams' },
  { value: 'email', label: 'E-mail' },
];

/** Deliveries also have the trigger of tests. */
const TRIGGER_LABELS: Readonly<Record<string, string>> = {
  'run:created': 'A run is created',
  'run:planning': 'A plan starts',
  'run:needs_attention': 'A run waits for a person',
  'run:applying': 'An apply starts',
  'run:completed': 'A run is completed',
  'run:errored': 'A run fails, or is canceled or discarded',
  'workspace:locked': 'A workspace is locked',
  'workspace:unlocked': 'A workspace is unlocked',
  'workspace:created': 'A workspace is created',
  'workspace:deleted': 'A workspace is deleted',
  verification: 'Test',
};

/** Other triggers belong to features that the server does not have. Clients can set them, and nothing sends them. */
export const formatTrigger = (trigger: string): string => TRIGGER_LABELS[trigger] ?? `${trigger} (never sent)`;

const OF_WORKSPACES: readonly NotificationTrigger[] = [
  'run:created',
  'run:planning',
  'run:needs_attention',
  'run:applying',
  'run:completed',
  'run:errored',
  'workspace:locked',
  'workspace:unlocked',
];

/** The triggers that the server sends for an owner. It sends none for teams. */
export const SENT_TRIGGERS: Readonly<Record<NotifyingOwner['kind'], readonly NotificationTrigger[]>> = {
  workspace: OF_WORKSPACES,
  organization: [...OF_WORKSPACES, 'workspace:created', 'workspace:deleted'],
  team: [],
};

const countPeople = (count: number): string => (count === 1 ? '1 person' : `${count} people`);

/** Returns the destination without the path of its URL, because everybody who has the URL of a webhook can post there. */
export const describeDestination = ({ attributes, relationships }: ListedNotification): string => {
  const { url } = attributes;
  const type = attributes['destination-type'];
  if (type === 'email') {
    const { length } = relationships.users.data;
    const isOfTeam = relationships.subscribable.data.type === 'teams';
    return length === 0 && isOfTeam ? 'E-mails to all members of the team' : `E-mails to ${countPeople(length)}`;
  }
  const host = URL.parse(url ?? '')?.host ?? '';
  if (type === 'slack') return `Slack, ${host}`;
  return type === 'microsoft-teams' ? `Microsoft Teams, ${host}` : host;
};
