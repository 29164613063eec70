import { z } from 'zod';
import { describePersonalName, type EventKind, type EventKinds } from '#kernel';
import type { ConfigurationVersionEvent } from './configuration-version.js';

const resource = 'configuration_version';

const defineAuditedEvent = (action: string): EventKind<Record<never, never>> => ({
  schemaVersion: 1,
  topic: 'runs',
  schema: z.strictObject({}),
  audit: { resource, action },
});

const archive = z.strictObject({ size: z.int(), archive: z.int() });

/** Event schemas, topics and audit mappings of configuration versions. */
export const configurationVersionEvents: EventKinds<ConfigurationVersionEvent> = {
  ConfigurationVersionCreated: {
    schemaVersion: 1,
    topic: 'runs',
    schema: z.strictObject({
      workspace: z.string(),
      source: z.literal('tfe-api'),
      autoQueueRuns: z.boolean(),
      speculative: z.boolean(),
      provisional: z.boolean(),
      createdBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
      mayApply: z.boolean(),
    }),
    audit: {
      resource,
      action: 'create',
      meta: ({ workspace, speculative, provisional }) => ({ workspace_id: workspace, speculative, provisional }),
    },
    personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
  },
  ConfigurationVersionUploaded: {
    schemaVersion: 2,
    upcast: { 1: [{ add: { archive: 1 } }] },
    topic: 'runs',
    schema: archive,
    audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
  },
  ConfigurationVersionReplaced: {
    schemaVersion: 1,
    topic: 'runs',
    schema: archive,
    audit: { resource, action: 'replace_archive', meta: ({ size }) => ({ size }) },
  },
  ConfigurationVersionErrored: {
    schemaVersion: 1,
    topic: 'runs',
    schema: z.strictObject({ error: z.string(), message: z.string() }),
    audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
  },
  ConfigurationVersionArchived: defineAuditedEvent('archive'),
  ConfigurationVersionSoftDeleted: defineAuditedEvent('soft_delete_backing_data'),
  ConfigurationVersionRestored: defineAuditedEvent('restore_backing_data'),
  ConfigurationVersionPermanentlyDeleted: defineAuditedEvent('permanently_delete_backing_data'),
};
