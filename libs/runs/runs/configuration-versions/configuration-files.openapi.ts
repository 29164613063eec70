import {
  describeController,
  describeEmpty,
  describeFile,
  describeFileBody,
  describeRedirect,
  INVALID_LINK,
  type OperationDescription,
  signedLinkParameter,
} from '#api/json-api/description';
import { ConfigurationFilesController } from './configuration-files.controller.js';
import { CONFIGURATION_VERSIONS } from './configuration-versions.openapi.js';

const NO_ARCHIVE = 'The archive was not uploaded or was deleted, or you may not see the configuration version.';

const download = {
  description: 'The signed link in the answer is valid for 15 minutes and needs no token.',
  answer: describeRedirect('A signed link to the archive.'),
  refusals: { 'not-found': NO_ARCHIVE },
} satisfies Partial<OperationDescription>;

export const configurationFilesOperations = describeController(ConfigurationFilesController, CONFIGURATION_VERSIONS, {
  upload: {
    operationId: 'uploadConfigurationArchive',
    summary: 'Upload the archive of a configuration version',
    description: 'The signed link replaces the token. The server may start a run, as `auto-queue-runs` says.',
    path: signedLinkParameter('`upload-url` of a created configuration version', 'a day'),
    body: describeFileBody('A gzip archive of at most 512 MiB.'),
    answer: describeEmpty(),
    refusals: {
      forbidden: INVALID_LINK,
      conflict: 'Another archive was uploaded at the same time, a run uses the present one, or an upload has failed.',
      unprocessable: 'The file is not a gzip archive.',
    },
    events: [
      'ConfigurationVersionUploaded',
      'ConfigurationVersionReplaced',
      'ConfigurationVersionErrored',
      'RunCreated',
      'RunQueued',
    ],
  },
  download: { ...download, operationId: 'downloadConfiguration', summary: 'Get a link to an archive' },
  downloadOfRun: {
    ...download,
    operationId: 'downloadConfigurationOfRun',
    summary: 'Get a link to the archive of a run',
  },
  content: {
    operationId: 'downloadConfigurationArchive',
    summary: 'Download the archive of a configuration version',
    description: 'The signed link replaces the token. The audit trail names the caller who got the link.',
    path: signedLinkParameter('the redirect of a download', '15 minutes'),
    answer: describeFile('application/octet-stream', { description: 'The gzip archive.' }),
    refusals: { forbidden: INVALID_LINK, 'not-found': 'The archive was deleted or replaced.' },
    events: ['ConfigurationVersionDownloaded'],
  },
});
