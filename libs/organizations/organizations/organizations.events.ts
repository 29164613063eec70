import { z } from 'zod';
import {
  defineEvents,
  describeChangedAttributes,
  describeDeletion,
  type EventKinds,
  createSubject,
  endSubject,
  updateSubject,
  withTags,
  withoutTags,
} from '#platform/kernel';
import { onResource, type Permission } from '#api/access/rules';
import { upcastChanges, upcastMember, optionalMembers } from '#api/json-api';
import { FEATURE_SETS, TRAIL_STARTS, type OrganizationEvent } from './organizations/organization.js';
import { ORGANIZATION_SETTINGS } from './organizations/organization-settings.js';
import { LIMITED_TOKENS, type MaxTokenTtls } from './organizations/token-ttl-policy.js';
import type { ProjectEvent } from './projects/project.js';
import { PROJECT_SETTINGS } from './projects/project-settings.js';

const organizationSettings = z.strictObject(ORGANIZATION_SETTINGS.shape);
const projectSettings = z.strictObject(PROJECT_SETTINGS.shape);

const organizationChanges = optionalMembers(organizationSettings.extend({ name: z.string(), email: z.string() }));
const projectChanges = optionalMembers(
  projectSettings.extend({ name: z.string(), description: z.string().nullable() }),
);

const maxTtls = z.partialRecord(z.enum(LIMITED_TOKENS), z.int()) as unknown as z.ZodType<Partial<MaxTokenTtls>>;

const onOrganization = (permission: Permission) =>
  onResource('organizations', { in: 'organization', permission }, 'organization');

export const organizationEvents = {
  ...defineEvents(
    { topic: 'organizations', stream: 'org', audited: 'organization', live: onOrganization('read-organization') },
    {
      OrganizationCreated: {
        schemaVersion: ORGANIZATION_SETTINGS.version,
        upcast: upcastMember(ORGANIZATION_SETTINGS, 'settings'),
        schema: z.strictObject({
          name: z.string(),
          email: z.string(),
          featureSet: z.enum(FEATURE_SETS),
          settings: organizationSettings,
          defaultProject: z.string(),
          ownersTeam: z.string(),
        }),
        audit: { action: 'create', site: 'always', meta: ({ name }) => ({ name }) },
        live: 'created',
        history: ({ name, email, featureSet, settings }, { stream }) =>
          createSubject(stream, { ...settings, name, email, featureSet }),
        ids: { refersTo: { defaultProject: ['prj'], ownersTeam: ['team'], 'settings.defaultAgentPool': ['apool'] } },
      },
      OrganizationUpdated: {
        schemaVersion: ORGANIZATION_SETTINGS.version,
        upcast: upcastChanges(ORGANIZATION_SETTINGS),
        schema: z.strictObject({ changes: organizationChanges }),
        audit: { action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
        live: 'changed',
        history: ({ changes }, { stream }) => updateSubject(stream, changes),
        ids: { refersTo: { 'changes.defaultAgentPool': ['apool'] } },
      },
      OrganizationFeatureSetChanged: {
        schemaVersion: 2,
        // In version 1, a change that opened an audit trail was its first entry. The entries of these trails stay the same.
        upcast: { 1: [{ add: { trailBegins: 'with_change' } }] },
        schema: z.strictObject({ featureSet: z.enum(FEATURE_SETS), trailBegins: z.enum(TRAIL_STARTS) }),
        audit: { action: 'update', site: 'always', meta: ({ featureSet }) => ({ feature_set: featureSet }) },
        live: 'changed',
        history: ({ featureSet }, { stream }) => updateSubject(stream, { featureSet }),
      },
      OrganizationTokenTtlPoliciesChanged: {
        schema: z.strictObject({ maxTtls }),
        audit: { action: 'update', meta: (data) => ({ token_ttl_policies: data.maxTtls }) },
        live: onOrganization('update-organization')('changed'),
      },
      OrganizationImported: {
        schemaVersion: 2,
        upcast: { 1: [{ add: { trailCheckpoint: null } }] },
        schema: z.strictObject({
          archive: z.uuid(),
          source: z.string(),
          position: z.int(),
          exportedAt: z.iso.datetime(),
          events: z.int(),
          trailCheckpoint: z.string().nullable(),
        }),
        audit: {
          action: 'update',
          site: 'always',
          meta: ({ source, position, events }) => ({ imported_from: source, position, events }),
        },
        live: 'changed',
      },
      OrganizationDeleted: {
        schema: z.strictObject({ name: z.string() }),
        audit: { action: 'destroy', site: 'always', meta: ({ name }) => ({ name }) },
        live: 'deleted',
        history: (_, { stream }) => [{ forgotten: stream }],
        notImported: 'a deleted organization cannot be exported',
      },
    },
  ),
  ...defineEvents(
    {
      topic: 'organizations',
      stream: 'prj',
      audited: 'project',
      live: onResource('projects', { in: 'project', id: 'stream', permission: 'read-project' }),
    },
    {
      ProjectCreated: {
        schemaVersion: PROJECT_SETTINGS.version,
        upcast: upcastMember(PROJECT_SETTINGS, 'settings'),
        schema: z.strictObject({ name: z.string(), description: z.string().nullable(), settings: projectSettings }),
        audit: { action: 'create', meta: ({ name }) => ({ name }) },
        live: 'created',
        history: ({ name, description, settings }, { stream }) =>
          createSubject(stream, { ...settings, name, description }),
        ids: { refersTo: { 'settings.defaultAgentPoolId': ['apool'] } },
      },
      ProjectUpdated: {
        schemaVersion: PROJECT_SETTINGS.version,
        upcast: upcastChanges(PROJECT_SETTINGS),
        schema: z.strictObject({ changes: projectChanges }),
        audit: { action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
        live: 'changed',
        history: ({ changes }, { stream }) => updateSubject(stream, changes),
        ids: { refersTo: { 'changes.defaultAgentPoolId': ['apool'] } },
      },
      ProjectTagBound: {
        schema: z.strictObject({ key: z.string(), from: z.string().nullable(), to: z.string() }),
        audit: { action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data }) },
        live: 'changed',
        history: ({ key, to }, { stream }, lookup) =>
          updateSubject(stream, { tags: withTags(lookup, stream, [{ key, value: to }]) }),
      },
      ProjectTagUnbound: {
        schema: z.strictObject({ key: z.string(), from: z.string() }),
        audit: { action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data, to: null }) },
        live: 'changed',
        history: ({ key }, { stream }, lookup) => updateSubject(stream, { tags: withoutTags(lookup, stream, [key]) }),
      },
      ProjectDeleted: {
        schemaVersion: 2,
        // Deletions of version 1 were final.
        upcast: { 1: [{ add: { recoverableUntil: null } }] },
        schema: z.strictObject({ name: z.string(), recoverableUntil: z.string().nullable() }),
        audit: { action: 'destroy', meta: describeDeletion },
        live: 'deleted',
        history: (_, { stream }) => endSubject(stream),
      },
      ProjectRecovered: {
        schema: z.strictObject({ name: z.string() }),
        audit: { action: 'recover', meta: ({ name }) => ({ name }) },
        live: 'created',
        history: ({ name }, { stream }, lookup) => {
          const last = lookup.ofDeleted(stream);
          return last ? createSubject(stream, { ...last, name }) : [];
        },
      },
      ProjectPurged: {
        schema: z.strictObject({ name: z.string(), expired: z.boolean() }),
        audit: { action: 'purge', meta: ({ name, expired }) => ({ name, expired }) },
        live: { unsent: 'the message about the deletion has said that the project is gone' },
      },
    },
  ),
} satisfies EventKinds<OrganizationEvent | ProjectEvent>;
