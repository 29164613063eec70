import { z } from 'zod';
import { EXECUTION_MODES } from '#platform/kernel';
import { defineAttributes, flag, nullableText, storedAttribute, type AttributeValues } from '#api/json-api/rules';

/** How people must sign in to have access to the organization. `sso_mandatory`: with an identity provider. */
const authPolicy = z.enum(['password', 'two_factor_mandatory', 'sso_mandatory']);

const minutes = {
  schema: z.int().nullable(),
  initial: null,
  body: z.int().positive({ error: 'must be at least one minute' }).nullish(),
} as const;

/** Stacks cannot run where the client is. */
const stacksMode = z.enum(['remote', 'agent']);

/** Settings of an organization. Owners change all but those without a `body`, which only site administrators change. */
const settings = {
  collaboratorAuthPolicy: { schema: authPolicy, initial: 'password', body: authPolicy.optional() },
  costEstimationEnabled: storedAttribute(flag(false)),
  assessmentsEnforced: flag(false),
  allowForceDeleteWorkspaces: flag(false),
  sendPassingStatusesForUntriggeredSpeculativePlans: flag(false),
  aggregatedCommitStatusEnabled: flag(true),
  speculativePlanManagementEnabled: flag(true),
  ownersTeamSamlRoleId: storedAttribute(nullableText(255)),
  sessionTimeout: storedAttribute(minutes),
  sessionRemember: minutes,
  defaultExecutionMode: {
    schema: z.enum(EXECUTION_MODES),
    initial: 'remote',
    body: z.enum(EXECUTION_MODES).optional(),
  },
  defaultAgentPool: { ...nullableText(255), member: 'default-agent-pool-id' },
  userTokensEnabled: flag(true),
  /**
   * Whether callers that manage providers may list providers of the public registry beside those of the organization.
   */
  publicProviderCurationEnabled: { ...flag(true), since: 2 },
  /** Whether the limits for the lifetime of tokens apply: to new tokens, and to the age of user tokens. */
  maxTtlEnabled: { ...flag(false), since: 3 },
  globalModuleSharing: { ...storedAttribute(flag(false)), since: 4 },
  registryMonorepoSupportEnabled: { ...storedAttribute(flag(false)), since: 4 },
  stacksDefaultExecutionMode: {
    ...storedAttribute({ schema: stacksMode, initial: 'remote', body: stacksMode.optional() }),
    since: 4,
  },
  stacksEnabled: { ...storedAttribute(flag(false)), since: 4 },
  accessBetaTools: { schema: z.boolean(), initial: false, since: 5 },
  /** Whether pools of the site execute runs in `remote` mode while the organization has no pool for them. */
  siteExecutorsEnabled: { ...flag(true), since: 6 },
  /** The longest times of plans and applies, such as `2h`; null: those of the site. */
  planTimeout: { schema: z.string().nullable(), initial: null, since: 7 },
  applyTimeout: { schema: z.string().nullable(), initial: null, since: 7 },
  /** Whether Git hosts get the states of plans of commits. */
  commitStatusesEnabled: { ...flag(true), since: 8 },
  /** Whether pull requests get a comment about their plans. It is public where the repository is. */
  pullRequestCommentsEnabled: { ...flag(false), since: 8 },
} as const;

export const ORGANIZATION_SETTINGS = defineAttributes(settings);
export type OrganizationSettings = AttributeValues<typeof settings>;
