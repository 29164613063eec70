import type { SentTrigger, Timestamp } from '#platform/kernel';
import { VERIFICATION } from '../configurations/triggers.js';

/** What a notification is about. Names are those of the time of sending. */
export type Notice = {
  readonly configuration: string;
  readonly trigger: SentTrigger | typeof VERIFICATION;
  /** A text such as `Run Created`. */
  readonly message: string;
  readonly organizationName: string | null;
  readonly workspace: { readonly id: string; readonly name: string } | null;
  readonly run: {
    readonly id: string;
    readonly url: string;
    readonly message: string;
    readonly createdAt: Timestamp;
    /** Null if the run was created by a caller without a name, such as the token of an organization. */
    readonly createdBy: string | null;
  } | null;
  /** The status of the run; null for workspaces. */
  readonly status: string | null;
  readonly at: Timestamp | null;
  readonly by: string | null;
};

const capitalize = (text: string): string =>
  text
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');

/** Triggers with several statuses. Their messages name the status. */
const NAMED_BY_STATUS: readonly string[] = ['run:completed', 'run:errored'];

/** Returns `Run Needs Attention` for `run:needs_attention`, and `Run Canceled` for a canceled run. */
export const describeTrigger = (trigger: SentTrigger, status: string | null): string => {
  const [subject = '', change = ''] = trigger.split(':');
  return `${capitalize(subject)} ${capitalize(status !== null && NAMED_BY_STATUS.includes(trigger) ? status : change)}`;
};

export const createVerificationNotice = (configuration: string, name: string): Notice => ({
  configuration,
  trigger: VERIFICATION,
  message: `Verification of ${name}`,
  organizationName: null,
  workspace: null,
  run: null,
  status: null,
  at: null,
  by: null,
});
