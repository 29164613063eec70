import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeEmpty,
  describeNoAnswer,
  describeOptionalBody,
  exampleText,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { CONFIGURATION_STATUSES } from './configuration-version.js';
import { ConfigurationVersionsController, createBody, INCLUDES } from './configuration-versions.controller.js';

const statusTimestamps = z
  .strictObject({
    'uploaded-at': timestamp().optional(),
    'errored-at': timestamp().optional(),
    'archived-at': timestamp().optional(),
    'backing-data-soft-deleted-at': timestamp().optional(),
    'backing-data-permanently-deleted-at': timestamp().optional(),
  })
  .meta({ examples: [{ 'uploaded-at': '2026-01-31T12:30:15.123Z' }] });

export const configurationVersionSchema = defineResource({
  name: 'ConfigurationVersion',
  type: 'configuration-versions',
  description: 'An archive with the configuration of a workspace.',
  exampleId: 'cv-9wFj4RtBm7ZsQk2N',
  attributes: {
    'auto-queue-runs': z.boolean().meta({ description: 'Whether the upload starts a run.', examples: [true] }),
    'created-at': timestamp(),
    error: exampleText('invalid-archive')
      .nullable()
      .meta({ examples: [null] }),
    'error-message': exampleText('The upload is not a gzip archive')
      .nullable()
      .meta({ examples: [null] }),
    provisional: z.boolean().meta({ description: 'Whether it never becomes the current configuration version.' }),
    source: always('tfe-api'),
    speculative: z.boolean().meta({ description: 'Whether it is used for plans only.' }),
    status: z.enum(CONFIGURATION_STATUSES).meta({ examples: ['uploaded'] }),
    'status-timestamps': statusTimestamps,
    'upload-url': exampleText('https://cadastre.example.com/api/v2/configuration-versions/upload/TOKEN')
      .nullable()
      .meta({
        description: 'A signed link for the archive. Only the answer to the creation has it; otherwise it is null.',
        format: 'uri',
        examples: [null],
      }),
  },
  relationships: { 'ingress-attributes': related.noneWithLink() },
  links: z.strictObject({
    self: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N'),
    download: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N/download')
      .optional()
      .meta({ description: 'Present if the archive is uploaded.' }),
  }),
});

export const CONFIGURATION_VERSIONS = {
  name: 'Configuration versions',
  description: 'Archives with the configuration of a workspace, and their uploads and downloads.',
};

const group = {
  ...CONFIGURATION_VERSIONS,
  resource: configurationVersionSchema,
  // Nothing can be included: versions have no commit, and no relationship to a run.
  include: { values: INCLUDES, resources: [] },
};

export const configurationVersionsOperations = describeController(ConfigurationVersionsController, group, {
  create: {
    description: 'Upload the archive to the signed link in `upload-url`, which is valid for a day.',
    body: describeOptionalBody(createBody, {
      data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } },
    }),
  },
  list: {},
  show: {},
  showOfRun: {
    operationId: 'getConfigurationVersionOfRun',
    summary: 'Show the configuration version of a run',
  },
  ingressAttributes: {
    operationId: 'readIngressAttributes',
    summary: 'Read the commit of a configuration version, which none has',
    description: 'The answer is always 404: the server creates no configuration version from a commit.',
    answer: describeNoAnswer(),
    refusals: { 'not-found': 'The configuration version was not made of a commit.' },
  },
  archive: {
    description: 'The server deletes the archive.',
    answer: describeEmpty(),
    refusals: { conflict: 'The archive is not uploaded, is the current one, or an unfinished run uses it.' },
  },
  softDelete: {
    operationId: 'softDeleteConfigurationVersionData',
    summary: 'Delete the archive of a configuration version with the option to restore it',
    refusals: { 'bad-request': 'The archive is not uploaded, is the current one, or an unfinished run uses it.' },
  },
  restore: {
    operationId: 'restoreConfigurationVersionData',
    summary: 'Restore the deleted archive of a configuration version',
    refusals: { 'bad-request': 'The archive is neither uploaded nor soft deleted.' },
  },
  deletePermanently: {
    operationId: 'deleteConfigurationVersionData',
    summary: 'Delete the archive of a configuration version permanently',
    refusals: { 'bad-request': 'The archive is not soft deleted.' },
  },
});
