import { z } from 'zod';
import {
  describeController,
  describeEmpty,
  describeFileBody,
  describeJson,
  INVALID_LINK,
  signedLinkParameter,
} from '#api/json-api/description';
import { STATE_VERSIONS } from './state-versions.openapi.js';
import { StateFilesController } from './state-files.controller.js';

const NO_FILE = 'The file was not uploaded or was deleted, or you may not see the state version.';

const describeStateFile = (description: string, example: object) =>
  describeJson(z.looseObject({}), { mediaType: 'application/json', description, example });

export const stateFilesOperations = describeController(StateFilesController, STATE_VERSIONS, {
  upload: {
    operationId: 'uploadState',
    summary: 'Upload a file of a state version',
    description:
      'The signed link replaces the token. It decides whether the file is the state or its JSON form. The same file can be uploaded again.',
    path: signedLinkParameter(
      '`hosted-state-upload-url` or `hosted-json-state-upload-url` of a state version',
      'a day',
    ),
    body: describeFileBody('The state of at most 256 MiB, or its JSON form of at most 1 GiB.'),
    answer: describeEmpty(),
    refusals: {
      forbidden: INVALID_LINK,
      conflict: 'Another file has been uploaded.',
      unprocessable: 'The file is not a state, or its MD5 is not the `md5` of the state version.',
    },
    events: ['StateVersionFinalized'],
  },
  download: {
    operationId: 'downloadState',
    summary: 'Download the state of a state version',
    answer: describeStateFile('The state file as it was uploaded.', {
      version: 4,
      terraform_version: '1.13.0',
      serial: 1,
      lineage: '871d1b4a-e579-fb7c-ffdb-f0c858a647a7',
      outputs: {},
      resources: [],
    }),
    refusals: { 'not-found': NO_FILE },
  },
  downloadJson: {
    operationId: 'downloadJsonState',
    summary: 'Download the JSON form of a state',
    answer: describeStateFile('The JSON form of the state as it was uploaded.', {
      format_version: '1.0',
      terraform_version: '1.13.0',
      values: { root_module: {} },
    }),
    refusals: { 'not-found': NO_FILE },
  },
});
