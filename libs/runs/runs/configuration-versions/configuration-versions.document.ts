import { linkTo, type Resource } from '#api/json-api';
import type { Ingress } from './configuration-version.js';
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
      // The content of a commit comes from the Git host, not from an upload.
      status: row.ingress && row.status === 'pending' ? 'fetching' : row.status,
      'status-timestamps': renderTimestamps(row),
      'upload-url': uploadUrl ?? null,
    },
    relationships: {
      'ingress-attributes': {
        data: row.ingress && { type: 'ingress-attributes', id: toIngressId(row.id) },
        ...linkTo(`${self}/ingress-attributes`),
      },
    },
    links: { self, ...(row.status === 'uploaded' ? { download: `${self}/download` } : {}) },
  };
};

const toIngressId = (configurationVersion: string): string => configurationVersion.replace(/^cv-/, 'ia-');

/** Renders the commits of those configuration versions that have one. */
export const renderCommits = (rows: readonly ConfigurationVersionRow[]): Resource[] =>
  rows.flatMap((row) => (row.ingress ? [renderIngressAttributes(row, row.ingress)] : []));

/** Renders the commit of a configuration version. */
export const renderIngressAttributes = (
  { id }: Pick<ConfigurationVersionRow, 'id'>,
  { pullRequest, ...ingress }: Ingress,
): Resource => ({
  id: toIngressId(id),
  type: 'ingress-attributes',
  attributes: {
    branch: ingress.branch,
    'clone-url': ingress.cloneUrl,
    'commit-message': ingress.commitMessage,
    'commit-sha': ingress.commitSha,
    'commit-url': ingress.commitUrl,
    'compare-url': null,
    identifier: ingress.identifier,
    'is-pull-request': pullRequest !== null,
    'on-default-branch': ingress.onDefaultBranch,
    'pull-request-body': null,
    'pull-request-number': pullRequest?.number ?? null,
    'pull-request-title': pullRequest?.title ?? null,
    'pull-request-url': pullRequest?.url ?? null,
    'sender-avatar-url': null,
    'sender-html-url': null,
    'sender-username': ingress.senderUsername,
    tag: ingress.tag,
  },
  links: { self: `/api/v2/configuration-versions/${id}/ingress-attributes` },
});
