import { z } from 'zod';
import { count, exampleText, parameter } from '#api/json-api/description';

type DescribedProgram = {
  readonly example: { readonly version: string; readonly url: string };
  readonly archives: string;
  readonly usage: string;
};

const SHA = 'c6e5df76ba4d8e0ba0d9c5e0a1e2a2a4b2c3d4e5f60718293a4b5c6d7e8f9012';

export const VERSION_IN_USE = 'The version is official, listed by the server, or in use.';
export const VERSION_NOT_VALID = 'An attribute is not valid, or the version exists.';

/** Returns what a request names for an archive for Linux on amd64. */
export const exampleArchive = (url: string) => ({ url, sha: SHA });

/** Returns the attributes of releases of a program. `sha`: the schema of a checksum. */
export const describeVersionAttributes = <Sha extends z.ZodType>(
  { example, archives, usage }: DescribedProgram,
  sha: (description: string) => Sha,
) => ({
  version: exampleText(example.version),
  url: exampleText(example.url, 'The archive for Linux on amd64.').nullable(),
  sha: exampleText(SHA, 'The SHA-256 checksum of that archive.').nullable(),
  archs: z
    .array(
      z.strictObject({
        url: exampleText(example.url),
        sha: sha(SHA),
        os: exampleText('linux'),
        arch: exampleText('amd64'),
      }),
    )
    .meta({ description: archives }),
  official: z.boolean().meta({ description: 'Whether it is a release of the publisher. It cannot be deleted.' }),
  enabled: z.boolean().meta({ description: 'Whether it may be chosen.' }),
  beta: z.boolean().meta({ description: 'Whether it is a preview of a release.' }),
  deprecated: z.boolean().meta({ description: 'Whether people should no longer use it.' }),
  'deprecated-reason': exampleText('It has a known weakness.').nullable(),
  usage: count(usage),
  'created-at': exampleText('2026-10-05T09:30:00.000Z', 'Null for releases that the server lists.').nullable(),
});

export const VERSION_QUERY = {
  'filter[version]': parameter.text('Only the release with exactly this version.'),
  'search[version]': parameter.text(
    'Only releases with this text in their version. Without effect beside `filter[version]`.',
  ),
};
