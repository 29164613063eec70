import {
  ASSESSMENT_TRIGGERS,
  AUTO_DESTROY_TRIGGERS,
  RUN_TRIGGERS,
  unprocessable,
  WORKSPACE_TRIGGERS,
  type SentTrigger,
} from '#platform/kernel';

/** What a configuration belongs to, as its JSON:API type. */
export const SUBSCRIBABLE_TYPES = ['workspaces', 'teams', 'organizations'] as const;
export type SubscribableType = (typeof SUBSCRIBABLE_TYPES)[number];

/**
 * Triggers of features that Cadastre does not have. Configurations keep them, because clients compare the lists, but
 * nothing sends them.
 */
const KEPT_TRIGGERS = ['change_request:created'] as const;

export type Trigger = SentTrigger | (typeof KEPT_TRIGGERS)[number];

/** The trigger of the request that tests a destination. Configurations cannot choose it. */
export const VERIFICATION = 'verification';

export const TRIGGERS: readonly Trigger[] = [
  ...RUN_TRIGGERS,
  ...WORKSPACE_TRIGGERS,
  ...ASSESSMENT_TRIGGERS,
  ...KEPT_TRIGGERS,
  ...AUTO_DESTROY_TRIGGERS,
];

/** The triggers that a configuration can have, by what it belongs to. */
const ACCEPTED_TRIGGERS: Readonly<Record<SubscribableType, readonly Trigger[]>> = {
  workspaces: TRIGGERS.filter(
    (trigger) => !['workspace:created', 'workspace:deleted', 'change_request:created'].includes(trigger),
  ),
  teams: ['change_request:created'],
  organizations: [...RUN_TRIGGERS, ...WORKSPACE_TRIGGERS],
};

const OWNER_NAMES: Readonly<Record<SubscribableType, string>> = {
  workspaces: 'a workspace',
  teams: 'a team',
  organizations: 'an organization',
};

/** Throws 422 for a trigger that a configuration of this owner cannot have. */
export const checkTriggers = (triggers: readonly string[], type: SubscribableType): void => {
  const accepted: readonly string[] = ACCEPTED_TRIGGERS[type];
  const refused = triggers.find((trigger) => !accepted.includes(trigger));
  if (refused === undefined) return;
  throw unprocessable(
    `Triggers of ${OWNER_NAMES[type]} must be some of ${accepted.join(', ')}, got ${refused}`,
    'triggers',
  );
};

/** Returns the triggers sorted and each once, so that another order is no change. */
export const sortTriggers = (triggers: readonly Trigger[]): readonly Trigger[] => [...new Set(triggers)].toSorted();
