import type { EnforcedPolicySet } from '#runs/policies/rules';
import { findOpaRelease, type SiteRelease } from '#workspaces/workspaces';
import type { PolicyChoice } from '../policy-evaluations/run-policies.js';
import { deriveId } from './runs.ids.js';

type RunWithPolicies = {
  readonly id: string;
  readonly enforcedPolicies: readonly EnforcedPolicySet[];
  readonly siteOpaReleases: readonly SiteRelease[];
};

/** Returns the policies of a plan, with the versions of OPA that evaluate them. `fence`: that of the plan; null without a claim. */
export const createPolicyChoice = (
  { id: run, enforcedPolicies, siteOpaReleases }: RunWithPolicies,
  fence: number | null,
): PolicyChoice => {
  const cause = `${run} ${fence ?? 'unclaimed'}`;
  return {
    evaluation: deriveId('poleval', cause),
    taskStage: deriveId('ts', `${run} post_plan`),
    sets: enforcedPolicies.map(({ toolVersion, ...set }) => ({
      ...set,
      outcome: deriveId('psout', `${cause} ${set.policySet}`),
      // A version that is disabled meanwhile has no archives, so that its policies cannot be evaluated.
      toolVersion: findOpaRelease(toolVersion, siteOpaReleases)?.version ?? toolVersion ?? 'latest',
    })),
  };
};
