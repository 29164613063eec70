import { z } from 'zod';
import {
  describeAlternatives,
  describeController,
  describeEmpty,
  describeFile,
  describeFileBody,
  exampleText,
  INVALID_LINK,
  signedLinkParameter,
} from '#api/json-api/description';
import { PROVIDER_VERSIONS } from '../versions/registry-provider-versions.openapi.js';
import { ReleaseFilesController } from './release-files.controller.js';

const path = {
  ...signedLinkParameter('the links of a provider version or platform', 'about a day'),
  filename: { description: 'The name of the file.', example: 'terraform-provider-aws_1.4.0_linux_amd64.zip' },
};

const headers = {
  ETag: exampleText('"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"', 'The SHA-256 of the file.'),
};

const rangeHeaders = {
  ...headers,
  'Content-Range': exampleText('bytes 0-1023/18211', 'The range, and the size of the whole file (RFC 9110).'),
};

const describeContent = (description: string, headers: z.ZodRawShape) =>
  describeAlternatives(
    [describeFile('application/zip'), describeFile('text/plain'), describeFile('application/octet-stream')],
    { description, headers },
  );

export const releaseFilesOperations = describeController(ReleaseFilesController, PROVIDER_VERSIONS, {
  upload: {
    operationId: 'uploadRegistryProviderFile',
    summary: 'Upload a file of a provider version',
    description:
      'The link determines the file: SHA256SUMS, its signature or the zip of a platform. The server checks checksums and the signature before it stores the file. After the last file, the version is published.',
    path,
    body: describeFileBody('The content of the file.'),
    answer: describeEmpty(),
    refusals: {
      'bad-request': 'The upload ended before its end.',
      forbidden: INVALID_LINK,
      'not-found': 'The version or the platform was deleted.',
      conflict: 'The file is uploaded already.',
      unprocessable: 'The file does not match the checksum or the signature.',
    },
    events: [
      'RegistryProviderShasumsUploaded',
      'RegistryProviderSignatureUploaded',
      'RegistryProviderSignatureVerified',
      'RegistryProviderBinaryUploaded',
      'RegistryProviderVersionPublished',
    ],
  },
  download: {
    operationId: 'downloadRegistryProviderFile',
    summary: 'Download a file of a provider version',
    description: 'A zip, SHA256SUMS as text, or its signature.',
    path,
    headers: {
      Range: z
        .string()
        .optional()
        .meta({ description: 'A range of bytes (RFC 9110).', examples: ['bytes=0-1023'] }),
      'If-Range': z.string().optional().meta({ description: 'The ETag of the file that the range belongs to.' }),
      'If-None-Match': z.string().optional().meta({ description: 'ETags of files that the client has.' }),
    },
    answer: describeContent('The file.', headers),
    otherAnswers: {
      206: describeContent('The requested range of the file.', rangeHeaders),
      304: describeEmpty({ description: 'The client has the file.', headers }),
      416: describeEmpty({ description: 'The file has no such range.', headers: rangeHeaders }),
    },
    refusals: { forbidden: INVALID_LINK, 'not-found': 'The file does not exist, or it was deleted.' },
  },
});
