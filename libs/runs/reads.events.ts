import { z } from 'zod';
import type { EventKinds, Message } from '#kernel';

/**
 * What is only looked at, and told all the same (contract §6.1). An archive comes by way of a link: who asks is given one,
 * which is told, and whoever comes with it is told as well, with the one whom it was given to.
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

export const configurationReads: EventKinds<ConfigurationRead> = {
  ConfigurationVersionShown: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ configurationVersion: z.string(), workspace: z.string() }),
    audit: {
      resource: 'configuration_version',
      action: 'show',
      id: ({ configurationVersion }) => configurationVersion,
      meta: ({ workspace }) => ({ workspace_id: workspace }),
    },
  },
  ConfigurationVersionDownloaded: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({
      configurationVersion: z.string(),
      workspace: z.string(),
      shown: z.enum(['link', 'archive']),
      linkOf: z.string().nullable(),
    }),
    audit: {
      resource: 'configuration_version',
      action: 'download',
      id: ({ configurationVersion }) => configurationVersion,
      meta: ({ workspace, shown, linkOf }) => ({ workspace_id: workspace, shown, link_of: linkOf }),
    },
  },
};
