import { z } from 'zod';
import {
  describeController,
  describeEmpty,
  describeFile,
  describeFileBody,
  exampleText,
  INVALID_LINK,
  signedLinkParameter,
} from '#api/json-api/description';
import { ModuleFilesController } from './module-files.controller.js';
import { MODULE_VERSIONS } from './registry-module-versions.openapi.js';

const headers = {
  ETag: exampleText('"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"', 'The SHA-256 of the file.'),
};

const rangeHeaders = {
  ...headers,
  'Content-Range': exampleText('bytes 0-1023/18211', 'The range, and the size of the whole file (RFC 9110).'),
};

export const moduleFilesOperations = describeController(ModuleFilesController, MODULE_VERSIONS, {
  upload: {
    operationId: 'uploadRegistryModuleArchive',
    summary: 'Upload the archive of a module version',
    description:
      'The link replaces the token. The server checks the archive before it stores it: only files and folders, no path outside, at most 10,000 files and 256 MiB, and a `.tf` file at the root or in `modules/NAME`.',
    path: signedLinkParameter('`upload` of a created version', 'a day'),
    body: describeFileBody('A gzip tar archive with the files of the module at its root.'),
    answer: describeEmpty(),
    refusals: {
      'bad-request': 'The upload ended before its end.',
      forbidden: INVALID_LINK,
      'not-found': 'The version was deleted.',
      conflict: 'The archive is uploaded already.',
      unprocessable: 'The file is no archive of a module.',
    },
    events: ['RegistryModuleVersionUploaded'],
  },
  download: {
    operationId: 'downloadRegistryModuleArchive',
    summary: 'Download the archive of a module version',
    path: {
      ...signedLinkParameter('`X-Terraform-Get` of a download', '15 minutes'),
      filename: { description: 'The name of the file.', example: 'network-aws-1.4.0.tar.gz' },
    },
    headers: {
      Range: z
        .string()
        .optional()
        .meta({ description: 'A range of bytes (RFC 9110).', examples: ['bytes=0-1023'] }),
      'If-Range': z.string().optional().meta({ description: 'The ETag of the file that the range belongs to.' }),
      'If-None-Match': z.string().optional().meta({ description: 'ETags of files that the client has.' }),
    },
    answer: describeFile('application/gzip', { description: 'The archive.', headers }),
    otherAnswers: {
      206: describeFile('application/gzip', { description: 'The requested range.', headers: rangeHeaders }),
      304: describeEmpty({ description: 'The client has the file.', headers }),
      416: describeEmpty({ description: 'The file has no such range.', headers: rangeHeaders }),
    },
    refusals: { forbidden: INVALID_LINK, 'not-found': 'The version was deleted, or it has no archive.' },
  },
});
