import type { SentTrigger, Timestamp } from '#platform/kernel';
import { VERIFICATION } from '../configurations/triggers.js';

type AssessmentFacts = {
  readonly id: string;
  readonly succeeded: boolean;
  readonly drifted: boolean;
  readonly counts: {
    readonly resourcesDrifted: number;
    readonly resourcesUndrifted: number;
    readonly checksPassed: number;
    readonly checksFailed: number;
    readonly checksErrored: number;
    readonly checksUnknown: number;
  };
  readonly createdAt: Timestamp;
};

/** `before` is null for the first result of a workspace. */
export type NotifiedAssessment = { readonly now: AssessmentFacts; readonly before: AssessmentFacts | null };

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
  /** When the resources of the workspace are destroyed at the earliest; null unless the notice is a reminder of that. */
  readonly destroyedFrom: Timestamp | null;
  /** The result of a health assessment, and the one before; null for other notices. */
  readonly assessment: (NotifiedAssessment & { readonly urlOfResults: string }) | null;
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
const describeTrigger = (trigger: SentTrigger, status: string | null): string => {
  const [subject = '', change = ''] = trigger.split(':');
  return `${capitalize(subject)} ${capitalize(status !== null && NAMED_BY_STATUS.includes(trigger) ? status : change)}`;
};

/** Returns the text of a notice. A reminder names the time, so that the first line of a message says all. */
export const describeNotice = (trigger: SentTrigger, status: string | null, destroyedFrom: string | null): string =>
  destroyedFrom === null
    ? describeTrigger(trigger, status)
    : `${describeTrigger(trigger, status)}: all resources are destroyed at ${destroyedFrom} at the earliest`;

export const createVerificationNotice = (configuration: string, name: string): Notice => ({
  configuration,
  trigger: VERIFICATION,
  message: `Verification of ${name}`,
  organizationName: null,
  workspace: null,
  run: null,
  status: null,
  destroyedFrom: null,
  assessment: null,
  at: null,
  by: null,
});
