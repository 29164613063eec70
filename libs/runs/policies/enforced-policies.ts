import type { EnforcementLevel } from '#runs/run-tasks/rules';

/** A policy of a set, as it is when a plan begins. */
export type EnforcedPolicy = {
  readonly policy: string;
  readonly policyName: string;
  readonly query: string;
  readonly enforcementLevel: EnforcementLevel;
  /** The digest of the text; null if none was uploaded. */
  readonly sha256: string | null;
};

/** A policy set with policies that belongs to a workspace. */
export type EnforcedPolicySet = {
  readonly policySet: string;
  readonly policySetName: string;
  readonly overridable: boolean;
  /** Null for the newest version of OPA. */
  readonly toolVersion: string | null;
  readonly policies: readonly EnforcedPolicy[];
};
