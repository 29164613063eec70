import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeEmpty,
  describeDocument,
  describeOptionalBody,
  exampleText,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { CONFIGURATION_SOURCES, CONFIGURATION_STATUSES } from './configuration-version.js';
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
    source: z.enum(CONFIGURATION_SOURCES).meta({ examples: ['tfe-api'] }),
    speculative: z.boolean().meta({ description: 'Whether it is used for plans only.' }),
    status: z
      .enum([...CONFIGURATION_STATUSES, 'fetching'])
      .meta({ description: '`fetching`: the content comes from a Git host.', examples: ['uploaded'] }),
    'status-timestamps': statusTimestamps,
    'upload-url': exampleText('https://cadastre.example.com/api/v2/configuration-versions/upload/TOKEN')
      .nullable()
      .meta({
        description: 'A signed link for the archive. Only the answer to the creation has it; otherwise it is null.',
        format: 'uri',
        examples: [null],
      }),
  },
  relationships: { 'ingress-attributes': related.one('ingress-attributes') },
  links: z.strictObject({
    self: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N'),
    download: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N/download')
      .optional()
      .meta({ description: 'Present if the archive is uploaded.' }),
  }),
});

export const ingressAttributesSchema = defineResource({
  name: 'IngressAttributes',
  type: 'ingress-attributes',
  noun: 'commit of a configuration version',
  description: 'The commit that a configuration version is made of.',
  exampleId: 'ia-9wFj4RtBm7ZsQk2N',
  attributes: {
    branch: exampleText('main').nullable(),
    'clone-url': exampleText('https://git.example.com/acme/network.git'),
    'commit-message': exampleText('Add a subnet'),
    'commit-sha': exampleText('5f3c1e9b7a2d4c6f8e0b1a3d5c7e9f1b3d5a7c9e'),
    'commit-url': exampleText('https://git.example.com/acme/network/commit/5f3c1e9b7a2d4c6f8e0b1a3d5c7e9f1b3d5a7c9e'),
    'compare-url': always(null),
    identifier: exampleText('acme/network'),
    'is-pull-request': z.boolean().meta({ examples: [false] }),
    'on-default-branch': z.boolean().meta({ examples: [true] }),
    'pull-request-body': always(null),
    'pull-request-number': z
      .int()
      .nullable()
      .meta({ examples: [null] }),
    'pull-request-title': exampleText('Add a subnet').nullable(),
    'pull-request-url': exampleText('https://git.example.com/acme/network/pulls/7').nullable(),
    'sender-avatar-url': always(null),
    'sender-html-url': always(null),
    'sender-username': exampleText('ada').nullable(),
    tag: exampleText('v1.2.3')
      .nullable()
      .meta({ examples: [null] }),
  },
  links: { self: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N/ingress-attributes') },
});

export const CONFIGURATION_VERSIONS = {
  name: 'Configuration versions',
  description: 'Archives with the configuration of a workspace, and their uploads and downloads.',
};

const group = {
  ...CONFIGURATION_VERSIONS,
  resource: configurationVersionSchema,
  include: { values: INCLUDES, resources: ['IngressAttributes'] },
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
    summary: 'Read the commit of a configuration version',
    answer: describeDocument('IngressAttributes'),
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
