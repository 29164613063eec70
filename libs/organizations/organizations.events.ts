import { z } from 'zod';
import { describeChangedAttributes, EXECUTION_MODES, type EventKinds } from '#kernel';
import {
  FEATURE_SETS,
  TRAIL_STARTS,
  type OrganizationChanges,
  type OrganizationEvent,
  type OrganizationSettings,
} from './organizations/organization.js';
import { LIMITED_TOKENS, type MaxTokenTtls } from './token-ttl-policies/token-ttl-policy.js';
import type { ProjectChanges, ProjectEvent, ProjectSettings } from './projects/project.js';

const executionMode = z.enum(EXECUTION_MODES);

const organizationSettings = z.strictObject({
  collaboratorAuthPolicy: z.enum(['password', 'two_factor_mandatory']),
  costEstimationEnabled: z.boolean(),
  assessmentsEnforced: z.boolean(),
  allowForceDeleteWorkspaces: z.boolean(),
  sendPassingStatusesForUntriggeredSpeculativePlans: z.boolean(),
  aggregatedCommitStatusEnabled: z.boolean(),
  speculativePlanManagementEnabled: z.boolean(),
  ownersTeamSamlRoleId: z.string().nullable(),
  sessionTimeout: z.int().nullable(),
  sessionRemember: z.int().nullable(),
  defaultExecutionMode: executionMode,
  defaultAgentPool: z.string().nullable(),
  userTokensEnabled: z.boolean(),
  publicProviderCurationEnabled: z.boolean(),
  maxTtlEnabled: z.boolean(),
}) satisfies z.ZodType<OrganizationSettings>;

const projectSettings = z.strictObject({
  autoDestroyActivityDuration: z.string().nullable(),
  defaultExecutionMode: executionMode.nullable(),
  defaultAgentPoolId: z.string().nullable(),
}) satisfies z.ZodType<ProjectSettings>;

const organizationChanges = organizationSettings
  .extend({ name: z.string(), email: z.string() })
  .partial() as unknown as z.ZodType<OrganizationChanges>;
const projectChanges = projectSettings
  .extend({ name: z.string(), description: z.string().nullable() })
  .partial() as unknown as z.ZodType<ProjectChanges>;

const maxTtls = z.partialRecord(z.enum(LIMITED_TOKENS), z.int()) as unknown as z.ZodType<Partial<MaxTokenTtls>>;

const withSetting =
  (setting: Partial<OrganizationSettings>) =>
  (data: unknown): unknown => {
    const { settings, ...rest } = data as { readonly settings: object };
    return { ...rest, settings: { ...settings, ...setting } };
  };
/** Version 1 had no public providers: curating them is on unless an owner turns it off. */
const withCuration = withSetting({ publicProviderCurationEnabled: true });
/** Version 2 had no policies for the life of tokens. */
const withoutMaxTtl = withSetting({ maxTtlEnabled: false });

/** In version 1 a change that opened an audit trail was its first entry. These trails stay as readers know them. */
const addTrailStart = (data: unknown): unknown => ({ ...(data as object), trailBegins: 'with_change' });

/** Schemas, topics and audit rows of the events of organizations and projects. */
export const organizationEvents: EventKinds<OrganizationEvent | ProjectEvent> = {
  OrganizationCreated: {
    schemaVersion: 3,
    upcast: { 1: withCuration, 2: withoutMaxTtl },
    topic: 'organizations',
    schema: z.strictObject({
      name: z.string(),
      email: z.string(),
      featureSet: z.enum(FEATURE_SETS),
      settings: organizationSettings,
      defaultProject: z.string(),
      ownersTeam: z.string(),
    }),
    audit: { resource: 'organization', action: 'create', meta: ({ name }) => ({ name }) },
  },
  OrganizationUpdated: {
    schemaVersion: 3,
    upcast: { 1: (data) => data, 2: (data) => data },
    topic: 'organizations',
    schema: z.strictObject({ changes: organizationChanges }),
    audit: { resource: 'organization', action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
  },
  OrganizationFeatureSetChanged: {
    schemaVersion: 2,
    upcast: { 1: addTrailStart },
    topic: 'organizations',
    schema: z.strictObject({ featureSet: z.enum(FEATURE_SETS), trailBegins: z.enum(TRAIL_STARTS) }),
    audit: { resource: 'organization', action: 'update', meta: ({ featureSet }) => ({ feature_set: featureSet }) },
  },
  OrganizationTokenTtlPoliciesChanged: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ maxTtls }),
    audit: { resource: 'organization', action: 'update', meta: (data) => ({ token_ttl_policies: data.maxTtls }) },
  },
  OrganizationDeleted: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'organization', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
  ProjectCreated: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ name: z.string(), description: z.string().nullable(), settings: projectSettings }),
    audit: { resource: 'project', action: 'create', meta: ({ name }) => ({ name }) },
  },
  ProjectUpdated: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ changes: projectChanges }),
    audit: { resource: 'project', action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
  },
  ProjectTagBound: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ key: z.string(), from: z.string().nullable(), to: z.string() }),
    audit: { resource: 'project', action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data }) },
  },
  ProjectTagUnbound: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ key: z.string(), from: z.string() }),
    audit: { resource: 'project', action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data, to: null }) },
  },
  ProjectDeleted: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'project', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
};
