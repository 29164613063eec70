import {
  describeController,
  describeDocument,
  describeEmpty,
  describeNoAnswer,
  describeOptionalBody,
  describePage,
  includeParameter,
  pageParameters,
  type OperationDescription,
} from '#api/json-api/description';
import { ConfigurationVersionsController, createBody, INCLUDES } from './configuration-versions.controller.js';

export const CONFIGURATION_VERSIONS = {
  name: 'Configuration versions',
  description: 'Archives with the configuration of a workspace, and their uploads and downloads.',
};

/** Nothing can be included: versions have no commit, and no relationship to a run. */
const included: readonly string[] = [];

const show = {
  query: includeParameter(INCLUDES),
  answer: describeDocument('ConfigurationVersion', { included }),
} satisfies Partial<OperationDescription>;

export const configurationVersionsOperations = describeController(
  ConfigurationVersionsController,
  CONFIGURATION_VERSIONS,
  {
    create: {
      operationId: 'createConfigurationVersion',
      summary: 'Create a configuration version',
      description: 'Upload the archive to the signed link in `upload-url`, which is valid for a day.',
      body: describeOptionalBody(createBody, {
        data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } },
      }),
      answer: describeDocument('ConfigurationVersion'),
    },
    list: {
      operationId: 'listConfigurationVersions',
      summary: 'List the configuration versions of a workspace',
      query: { ...pageParameters(), ...includeParameter(INCLUDES) },
      answer: describePage('ConfigurationVersion', { included }),
    },
    show: { ...show, operationId: 'getConfigurationVersion', summary: 'Show a configuration version' },
    showOfRun: {
      ...show,
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
      operationId: 'archiveConfigurationVersion',
      summary: 'Archive a configuration version',
      description: 'The server deletes the archive.',
      answer: describeEmpty(),
      refusals: { conflict: 'The archive is not uploaded, is the current one, or an unfinished run uses it.' },
    },
    softDelete: {
      operationId: 'softDeleteConfigurationVersionData',
      summary: 'Delete the archive of a configuration version with the option to restore it',
      answer: describeDocument('ConfigurationVersion'),
      refusals: { 'bad-request': 'The archive is not uploaded, is the current one, or an unfinished run uses it.' },
    },
    restore: {
      operationId: 'restoreConfigurationVersionData',
      summary: 'Restore the deleted archive of a configuration version',
      answer: describeDocument('ConfigurationVersion'),
      refusals: { 'bad-request': 'The archive is neither uploaded nor soft deleted.' },
    },
    deletePermanently: {
      operationId: 'deleteConfigurationVersionData',
      summary: 'Delete the archive of a configuration version permanently',
      answer: describeDocument('ConfigurationVersion'),
      refusals: { 'bad-request': 'The archive is not soft deleted.' },
    },
  },
);
