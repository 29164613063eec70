import { z } from 'zod';
import {
  always,
  defineResource,
  exampleText,
  relatedNoneWithLink,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { CONFIGURATION_STATUSES } from './configuration-version.js';

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
  relationships: { 'ingress-attributes': relatedNoneWithLink() },
  links: z.strictObject({
    self: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N'),
    download: serverPath('/api/v2/configuration-versions/cv-9wFj4RtBm7ZsQk2N/download')
      .optional()
      .meta({ description: 'Present if the archive is uploaded.' }),
  }),
});
