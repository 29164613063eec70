import { linkTo, type Resource } from '#api/json-api';
import type { ConfigurationVersionRow } from './configuration-versions.queries.js';

const renderTimestamps = ({ reached }: ConfigurationVersionRow): Record<string, string> =>
  Object.fromEntries(Object.entries(reached).map(([status, time]) => [`${status.replaceAll('_', '-')}-at`, time]));

/** Renders a configuration version. `uploadUrl` is shown by the creation only. */
export const renderConfigurationVersion = (row: ConfigurationVersionRow, uploadUrl?: string): Resource => {
  const self = `/api/v2/configuration-versions/${row.id}`;
  return {
    id: row.id,
    type: 'configuration-versions',
    attributes: {
      'auto-queue-runs': row.autoQueueRuns,
      'created-at': row.createdAt,
      error: row.error,
      'error-message': row.errorMessage,
      provisional: row.provisional,
      source: row.source,
      speculative: row.speculative,
      status: row.status,
      'status-timestamps': renderTimestamps(row),
      'upload-url': uploadUrl ?? null,
    },
    relationships: {
      // Null: no version is created from a commit yet.
      'ingress-attributes': { data: null, ...linkTo(`${self}/ingress-attributes`) },
    },
    links: { self, ...(row.status === 'uploaded' ? { download: `${self}/download` } : {}) },
  };
};
