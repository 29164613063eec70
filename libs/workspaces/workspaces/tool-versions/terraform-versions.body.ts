import { valid } from 'semver';
import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { omitUndefined, resourceBody, text } from '#api/json-api';
import type { ToolArchive, ToolVersionSettings } from './tool-version.js';

const MAX_ARCHIVES = 32;

/** Where `url` and `sha` of a version without `archs` are for. */
const DEFAULT_PLATFORM = { os: 'linux', arch: 'amd64' } as const;

const isArchiveUrl = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  // Events and the audit trail would contain the password.
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
};

const version = text(64).refine((value) => valid(value) === value, 'Version must be a release such as 1.5.7');
const url = text(1_000).refine(
  isArchiveUrl,
  'must be an http or https URL without a user name, such as https://tools.example.com/terraform_1.5.7_linux_amd64.zip',
);
const sha = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 checksum: 64 hexadecimal digits');
const platform = (example: string) =>
  z.string().regex(/^[a-z0-9]{1,20}$/, `must be up to 20 lower-case letters and digits, such as ${example}`);

const archive = z.object({ url, sha, os: platform('linux'), arch: platform('amd64') });

const attributes = z.object({
  version: version.optional(),
  url: url.nullish(),
  sha: sha.nullish(),
  archs: z
    .array(archive)
    .max(MAX_ARCHIVES, { error: `too many, at most ${MAX_ARCHIVES} of them` })
    .optional(),
  official: z.boolean().optional(),
  enabled: z.boolean().optional(),
  beta: z.boolean().optional(),
  deprecated: z.boolean().optional(),
  'deprecated-reason': text(1_000).nullish(),
});

export const createBody = resourceBody('terraform-versions', attributes.extend({ version }));
export const updateBody = resourceBody('terraform-versions', attributes);

type VersionAttributes = z.infer<typeof attributes>;

const normalize = ({ url: address, sha: checksum, os, arch }: ToolArchive): ToolArchive => ({
  url: address,
  sha: checksum.toLowerCase(),
  os,
  arch,
});

/** Returns the archives of the request; undefined if it says nothing about them. `url` and `sha` mean one archive. */
const toArchives = ({ url: address, sha: checksum, archs }: VersionAttributes): readonly ToolArchive[] | undefined => {
  if (archs) {
    const platforms = archs.map(({ os, arch }) => `${os}_${arch}`);
    const repeated = platforms.findIndex((name, index) => platforms.indexOf(name) !== index);
    if (repeated >= 0) throw unprocessable(`Archs: ${platforms[repeated]} is named twice`, `archs/${repeated}`);
    return archs.map(normalize);
  }
  if (address === undefined && checksum === undefined) return undefined;
  if (!address && !checksum) return [];
  if (!address) throw unprocessable('Url is missing beside sha', 'url');
  if (!checksum) throw unprocessable('Sha is missing beside url', 'sha');
  return [normalize({ url: address, sha: checksum, ...DEFAULT_PLATFORM })];
};

/** Returns the archive that `url` and `sha` of a version show. */
export const findDefaultArchive = (archs: readonly ToolArchive[]): ToolArchive | undefined =>
  archs.find(({ os, arch }) => os === DEFAULT_PLATFORM.os && arch === DEFAULT_PLATFORM.arch);

/** Converts the attributes of a request to the settings that it names. */
export const toVersionChanges = (
  input: VersionAttributes,
): Partial<ToolVersionSettings> & { readonly version?: string } => {
  const archs = toArchives(input);
  return omitUndefined({
    version: input.version,
    official: input.official,
    enabled: input.enabled,
    beta: input.beta,
    deprecated: input.deprecated,
    // A version that is no longer deprecated has no reason.
    deprecatedReason:
      input.deprecated === false ? null : input['deprecated-reason'] === '' ? null : input['deprecated-reason'],
    archs,
  });
};

/** Converts the attributes of a creation. */
export const toNewVersion = (
  input: z.infer<typeof createBody>['data']['attributes'],
): { readonly version: string; readonly settings: ToolVersionSettings } => {
  const { version: _, ...changes } = toVersionChanges(input);
  const defaults = {
    official: false,
    enabled: true,
    beta: false,
    deprecated: false,
    deprecatedReason: null,
    archs: [],
  };
  return { version: input.version, settings: { ...defaults, ...changes } };
};
