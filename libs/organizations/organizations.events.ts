import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import { upcastChanges, upcastMember } from '#json-api';
import {
  FEATURE_SETS,
  TRAIL_STARTS,
  type OrganizationChanges,
  type OrganizationEvent,
} from './organizations/organization.js';
import { ORGANIZATION_SETTINGS } from './organizations/organization-settings.js';
import { LIMITED_TOKENS, type MaxTokenTtls } from './token-ttl-policies/token-ttl-policy.js';
import type { ProjectChanges, ProjectEvent } from './projects/project.js';
import { PROJECT_SETTINGS } from './projects/project-settings.js';

const organizationSettings = z.strictObject(ORGANIZATION_SETTINGS.shape);
const projectSettings = z.strictObject(PROJECT_SETTINGS.shape);

const organizationChanges = organizationSettings
  .extend({ name: z.string(), email: z.string() })
  .partial() as unknown as z.ZodType<OrganizationChanges>;
const projectChanges = projectSettings
  .extend({ name: z.string(), description: z.string().nullable() })
  .partial() as unknown as z.ZodType<ProjectChanges>;

const maxTtls = z.partialRecord(z.enum(LIMITED_TOKENS), z.int()) as unknown as z.ZodType<Partial<MaxTokenTtls>>;

/**
 * In version 1, a change that opened an audit trail was its first entry. The entries of these trails must not change.
 */
export const organizationEvents: EventKinds<OrganizationEvent | ProjectEvent> = {
  OrganizationCreated: {
    schemaVersion: ORGANIZATION_SETTINGS.version,
    upcast: upcastMember(ORGANIZATION_SETTINGS, 'settings'),
    topic: 'organizations',
    schema: z.strictObject({
      name: z.string(),
      email: z.string(),
      featureSet: z.enum(FEATURE_SETS),
      settings: organizationSettings,
      defaultProject: z.string(),
      ownersTeam: z.string(),
    }),
    audit: { resource: 'organization', action: 'create', site: 'always', meta: ({ name }) => ({ name }) },
  },
  OrganizationUpdated: {
    schemaVersion: ORGANIZATION_SETTINGS.version,
    upcast: upcastChanges(ORGANIZATION_SETTINGS),
    topic: 'organizations',
    schema: z.strictObject({ changes: organizationChanges }),
    audit: { resource: 'organization', action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
  },
  OrganizationFeatureSetChanged: {
    schemaVersion: 2,
    upcast: { 1: [{ add: { trailBegins: 'with_change' } }] },
    topic: 'organizations',
    schema: z.strictObject({ featureSet: z.enum(FEATURE_SETS), trailBegins: z.enum(TRAIL_STARTS) }),
    audit: {
      resource: 'organization',
      action: 'update',
      site: 'always',
      meta: ({ featureSet }) => ({ feature_set: featureSet }),
    },
  },
  OrganizationTokenTtlPoliciesChanged: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ maxTtls }),
    audit: { resource: 'organization', action: 'update', meta: (data) => ({ token_ttl_policies: data.maxTtls }) },
  },
  OrganizationImported: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({
      archive: z.uuid(),
      source: z.string(),
      position: z.int(),
      exportedAt: z.iso.datetime(),
      events: z.int(),
    }),
    audit: {
      resource: 'organization',
      action: 'update',
      site: 'always',
      meta: ({ source, position, events }) => ({ imported_from: source, position, events }),
    },
  },
  OrganizationDeleted: {
    schemaVersion: 1,
    topic: 'organizations',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'organization', action: 'destroy', site: 'always', meta: ({ name }) => ({ name }) },
  },
  ProjectCreated: {
    schemaVersion: PROJECT_SETTINGS.version,
    upcast: upcastMember(PROJECT_SETTINGS, 'settings'),
    topic: 'organizations',
    schema: z.strictObject({ name: z.string(), description: z.string().nullable(), settings: projectSettings }),
    audit: { resource: 'project', action: 'create', meta: ({ name }) => ({ name }) },
  },
  ProjectUpdated: {
    schemaVersion: PROJECT_SETTINGS.version,
    upcast: upcastChanges(PROJECT_SETTINGS),
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
