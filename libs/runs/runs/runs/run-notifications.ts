import type { NotificationRule, SentTrigger } from '#platform/kernel';
import type { RunStage } from './run-event.js';
import { STATUS_AFTER } from './run-state.js';
import type { RunStatus } from './run-status.js';

/** Returns a rule whose notification has the status that follows from the type of the event. */
export const createStatusNotification =
  (type: keyof typeof STATUS_AFTER, trigger: SentTrigger, more: Pick<NotificationRule, 'ifWaiting'> = {}) =>
  (): NotificationRule => ({ trigger, status: STATUS_AFTER[type], ...more });

/** Statuses that only the executor reports, and that concern users. */
const STAGE_TRIGGERS: Partial<Readonly<Record<RunStatus, SentTrigger>>> = {
  post_plan_awaiting_decision: 'run:needs_attention',
  policy_override: 'run:needs_attention',
  policy_soft_failed: 'run:errored',
};

export const createStageNotification = ({ stage }: { readonly stage: RunStage }): NotificationRule | null => {
  const trigger = STAGE_TRIGGERS[stage];
  return trigger === undefined ? null : { trigger, status: stage };
};
