import { z } from 'zod';
import { defineEvents, type EventKinds, type Message } from '#platform/kernel';
import { READS } from '#api/access/rules';

/**
 * Reads that the audit trail records. An archive is downloaded by a link: the trail records the issue
 * of the link, and each download with the caller that got the link.
 */
export type ConfigurationRead =
  | Message<'ConfigurationVersionShown', { configurationVersion: string; workspace: string }>
  | Message<
      'ConfigurationVersionDownloaded',
      { configurationVersion: string; workspace: string; shown: 'link' | 'archive'; linkOf: string | null }
    >;

export const createConfigurationReadEvents = (rows: readonly { readonly id: string; readonly workspace: string }[]) =>
  rows.map(
    ({ id, workspace }) =>
      ({
        type: 'ConfigurationVersionShown',
        data: { configurationVersion: id, workspace },
      }) satisfies ConfigurationRead,
  );

export const configurationReads = defineEvents(
  { ...READS, audited: 'configuration_version' },
  {
    ConfigurationVersionShown: {
      schema: z.strictObject({ configurationVersion: z.string(), workspace: z.string() }),
      audit: {
        action: 'show',
        id: ({ configurationVersion }) => configurationVersion,
        meta: ({ workspace }) => ({ workspace_id: workspace }),
      },
      ids: { refersTo: { configurationVersion: ['cv'], workspace: ['ws'] } },
    },
    ConfigurationVersionDownloaded: {
      schema: z.strictObject({
        configurationVersion: z.string(),
        workspace: z.string(),
        shown: z.enum(['link', 'archive']),
        linkOf: z.string().nullable(),
      }),
      audit: {
        action: 'download',
        id: ({ configurationVersion }) => configurationVersion,
        meta: ({ workspace, shown, linkOf }) => ({ workspace_id: workspace, shown, link_of: linkOf }),
      },
      ids: { refersTo: { configurationVersion: ['cv'], workspace: ['ws'] } },
    },
  },
) satisfies EventKinds<ConfigurationRead>;

/**
 * The JSON output of a plan has the values that terraform marks as sensitive. The trail records the issue of the link,
 * and each download with the caller that got the link. The redacted plan and the schemas have none, so the trail does
 * not record their reads.
 */
export type PlanOutputRead = Message<
  'PlanOutputDownloaded',
  { run: string; workspace: string; shown: 'link' | 'document'; linkOf: string | null }
>;

/** The trail records the issue of the link to a state, and each download with the caller that got the link. */
export type ErroredStateRead = Message<
  'ErroredStateDownloaded',
  { run: string; workspace: string; shown: 'link' | 'state'; linkOf: string | null }
>;

export const erroredStateReads = defineEvents(
  { ...READS, audited: 'run' },
  {
    ErroredStateDownloaded: {
      schema: z.strictObject({
        run: z.string(),
        workspace: z.string(),
        shown: z.enum(['link', 'state']),
        linkOf: z.string().nullable(),
      }),
      audit: {
        action: 'download_errored_state',
        id: ({ run }) => run,
        meta: ({ workspace, shown, linkOf }) => ({ workspace_id: workspace, shown, link_of: linkOf }),
      },
      ids: { refersTo: { run: ['run'], workspace: ['ws'] } },
    },
  },
) satisfies EventKinds<ErroredStateRead>;

export const planOutputReads = defineEvents(
  { ...READS, audited: 'run' },
  {
    PlanOutputDownloaded: {
      schema: z.strictObject({
        run: z.string(),
        workspace: z.string(),
        shown: z.enum(['link', 'document']),
        linkOf: z.string().nullable(),
      }),
      audit: {
        action: 'download_plan_json',
        id: ({ run }) => run,
        meta: ({ workspace, shown, linkOf }) => ({ workspace_id: workspace, shown, link_of: linkOf }),
      },
      ids: { refersTo: { run: ['run'], workspace: ['ws'] } },
    },
  },
) satisfies EventKinds<PlanOutputRead>;
