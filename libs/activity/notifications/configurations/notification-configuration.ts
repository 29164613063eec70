import {
  checkName,
  conflict,
  hasNoChanges,
  pickChanged,
  requireActive,
  runAllChecks,
  type Decider,
  type Message,
} from '#platform/kernel';
import { checkRecipientLimit, type DestinationType } from './destinations.js';
import { checkTriggers, sortTriggers, type SubscribableType, type Trigger } from './triggers.js';

/** The workspace, team or organization that a configuration belongs to. */
export type Subscribable = { readonly type: SubscribableType; readonly id: string };

/**
 * Sends notifications about runs and workspaces to a URL or by e-mail. The vault stores URL and token under the
 * configuration's id. No event, state or message contains them, and none contains an address of a person.
 *
 *   absent ──create──► active (enabled or disabled) ──delete──► deleted
 */
export type NotificationConfigurationEvent =
  | Message<
      'NotificationConfigurationCreated',
      NotificationSettings & { subscribable: Subscribable; destinationType: DestinationType; enabled: boolean }
    >
  | Message<
      'NotificationConfigurationUpdated',
      {
        changes: Partial<NotificationSettings>;
        /** The secrets that were replaced or removed. */
        replaced: readonly ReplacedSecret[];
      }
    >
  | Message<'NotificationConfigurationEnabled', Record<never, never>>
  | Message<'NotificationConfigurationDisabled', Record<never, never>>
  | Message<'NotificationConfigurationDeleted', { name: string; subscribable: Subscribable }>;

type NotificationSettings = {
  readonly name: string;
  readonly triggers: readonly Trigger[];
  /** The host of the URL, which is no secret. Null for e-mail. */
  readonly host: string | null;
  /** Whether requests are signed. */
  readonly hasToken: boolean;
  /** Ids of the people who get e-mails. Empty for other destinations; for teams, empty means all members. */
  readonly users: readonly string[];
};

export type ReplacedSecret = 'url' | 'token';

export type NotificationConfigurationCommand =
  | Message<
      'CreateNotificationConfiguration',
      NotificationSettings & { subscribable: Subscribable; destinationType: DestinationType; enabled: boolean }
    >
  | Message<
      'UpdateNotificationConfiguration',
      {
        changes: Partial<NotificationSettings>;
        enabled: boolean | undefined;
        replaced: readonly ReplacedSecret[];
      }
    >
  | Message<'DeleteNotificationConfiguration', Record<never, never>>;

type ActiveConfiguration = NotificationSettings & {
  readonly status: 'active';
  readonly subscribable: Subscribable;
  readonly destinationType: DestinationType;
  readonly enabled: boolean;
};
type NotificationConfigurationState = { readonly status: 'absent' | 'deleted' } | ActiveConfiguration;

const NAME_RULE = { most: 255 };

const checkSettings = ({ name, triggers, users }: Partial<NotificationSettings>, type: SubscribableType): void =>
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => triggers !== undefined && checkTriggers(triggers, type),
    () => users !== undefined && checkRecipientLimit(users),
  );

/** Sorts lists and keeps each entry once, so that another order is no change. */
const normalize = <Settings extends Partial<NotificationSettings>>({ ...settings }: Settings): Settings => ({
  ...settings,
  ...(settings.triggers && { triggers: sortTriggers(settings.triggers) }),
  ...(settings.users && { users: [...new Set(settings.users)].toSorted() }),
});

const toSwitchEvents = (
  before: ActiveConfiguration,
  enabled: boolean | undefined,
): readonly NotificationConfigurationEvent[] => {
  if (enabled === undefined || enabled === before.enabled) return [];
  return [{ type: enabled ? 'NotificationConfigurationEnabled' : 'NotificationConfigurationDisabled', data: {} }];
};

const updateActive = (
  state: NotificationConfigurationState,
  change: Partial<ActiveConfiguration>,
): NotificationConfigurationState => (state.status === 'active' ? { ...state, ...change } : state);

export const notificationConfiguration: Decider<
  NotificationConfigurationState,
  NotificationConfigurationCommand,
  NotificationConfigurationEvent
> = {
  // 2: states contain `users`.
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateNotificationConfiguration: (data, state) => {
      if (state.status !== 'absent') throw conflict('Notification configuration exists already');
      checkSettings(data, data.subscribable.type);
      return [{ type: 'NotificationConfigurationCreated', data: normalize(data) }];
    },
    UpdateNotificationConfiguration: ({ changes, enabled, replaced }, state) => {
      const before = requireActive(state);
      checkSettings(changes, before.subscribable.type);
      const changed = pickChanged(before, normalize(changes));
      const isSame = hasNoChanges(changed) && replaced.length === 0;
      return [
        ...(isSame
          ? []
          : [{ type: 'NotificationConfigurationUpdated', data: { changes: changed, replaced } } as const]),
        ...toSwitchEvents(before, enabled),
      ];
    },
    DeleteNotificationConfiguration: (_, state) => {
      const { name, subscribable } = requireActive(state);
      return [{ type: 'NotificationConfigurationDeleted', data: { name, subscribable } }];
    },
  },
  evolve: {
    NotificationConfigurationCreated: (data) => ({ status: 'active', ...data }),
    NotificationConfigurationUpdated: ({ changes }, state) => updateActive(state, changes),
    NotificationConfigurationEnabled: (_, state) => updateActive(state, { enabled: true }),
    NotificationConfigurationDisabled: (_, state) => updateActive(state, { enabled: false }),
    NotificationConfigurationDeleted: () => ({ status: 'deleted' }),
  },
};
