import { z } from 'zod';
import { defineEvents, describePersonalName, type EventKinds } from '#kernel';
import { inWorkspace } from '#access/rules';
import type { ConfigurationVersionEvent } from './configuration-version.js';
import { addConfiguration } from './configuration-history.js';

const defineAuditedEvent = (action: string) => ({
  schema: z.strictObject({}),
  audit: { action },
  live: 'changed' as const,
});

const archive = z.strictObject({ size: z.int(), archive: z.int() });

export const configurationVersionEvents = defineEvents(
  {
    topic: 'runs',
    stream: 'cv',
    audited: 'configuration_version',
    live: inWorkspace('configuration-versions', 'read-configuration-version'),
  },
  {
    ConfigurationVersionCreated: {
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
        action: 'create',
        meta: ({ workspace, speculative, provisional }) => ({ workspace_id: workspace, speculative, provisional }),
      },
      live: inWorkspace('configuration-versions', 'read-configuration-version', { field: 'workspace' })('created'),
      history: addConfiguration,
      ids: { refersTo: { workspace: ['ws'] } },
      personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
    },
    ConfigurationVersionUploaded: {
      schemaVersion: 2,
      upcast: { 1: [{ add: { archive: 1 } }] },
      schema: archive,
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: 'changed',
    },
    ConfigurationVersionReplaced: {
      schema: archive,
      audit: { action: 'replace_archive', meta: ({ size }) => ({ size }) },
      live: 'changed',
    },
    ConfigurationVersionErrored: {
      schema: z.strictObject({ error: z.string(), message: z.string() }),
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: 'changed',
    },
    ConfigurationVersionArchived: defineAuditedEvent('archive'),
    ConfigurationVersionSoftDeleted: defineAuditedEvent('soft_delete_backing_data'),
    ConfigurationVersionRestored: defineAuditedEvent('restore_backing_data'),
    ConfigurationVersionPermanentlyDeleted: defineAuditedEvent('permanently_delete_backing_data'),
  },
) satisfies EventKinds<ConfigurationVersionEvent>;
