import { valid } from 'semver';
import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { omitUndefined, resourceBody, text } from '#api/json-api';
import { checkArchives, completeArchive, type PartialArchive, type RequestedArchive } from './tool-archives.js';
import type { ToolVersionChanges, ToolVersionSettings } from './tool-version.js';

const MAX_ARCHIVES = 32;

const isArchiveUrl = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  // Events keep the address forever, and these parts often contain passwords or tokens.
  return ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '');
};

const version = text(64).refine((value) => valid(value) === value, 'Version must be a release such as 1.5.7');
const url = text(1_000).refine(
  isArchiveUrl,
  'must be an http or https URL without a user name, query or fragment, such as https://tools.example.com/terraform_1.5.7_linux_amd64.zip',
);
const sha = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 checksum: 64 hexadecimal digits');
const platform = (example: string) =>
  z.string().regex(/^[a-z0-9]{1,20}$/, `must be up to 20 lower-case letters and digits, such as ${example}`);

const archive = z.object({ url, sha, os: platform('linux'), arch: platform('amd64') });

const list = <Archive extends z.ZodType>(item: Archive) =>
  z
    .array(item)
    .max(MAX_ARCHIVES, { error: `too many, at most ${MAX_ARCHIVES} of them` })
    .optional();

const attributes = z.object({
  version: version.optional(),
  url: url.nullish(),
  sha: sha.nullish(),
  archs: list(archive.extend({ sha: sha.nullable() })),
  official: z.boolean().optional(),
  enabled: z.boolean().optional(),
  beta: z.boolean().optional(),
  deprecated: z.boolean().optional(),
  'deprecated-reason': text(1_000).nullish(),
});

/** The JSON:API types of releases. */
export type ToolVersionType = 'terraform-versions' | 'opa-versions';

const defineBodies = (type: ToolVersionType) => ({
  create: resourceBody(type, attributes.extend({ version, archs: list(archive) })),
  update: resourceBody(type, attributes),
});

export const terraformVersionBodies = defineBodies('terraform-versions');
export const opaVersionBodies = defineBodies('opa-versions');

type VersionAttributes = z.infer<typeof attributes>;

const normalize = ({ url: address, sha: checksum, os, arch }: RequestedArchive): RequestedArchive => ({
  url: address,
  sha: checksum?.toLowerCase() ?? null,
  os,
  arch,
});

/** Returns the archives that a request names. `url` and `sha` mean one archive, `archs` all of them. */
const readArchives = ({
  url: address,
  sha: checksum,
  archs,
}: VersionAttributes): { readonly archs?: readonly RequestedArchive[]; readonly archive?: PartialArchive } => {
  if (archs) {
    const platforms = archs.map(({ os, arch }) => `${os}_${arch}`);
    const repeated = platforms.findIndex((name, index) => platforms.indexOf(name) !== index);
    if (repeated >= 0) throw unprocessable(`Archs: ${platforms[repeated]} is named twice`, `archs/${repeated}`);
    return { archs: archs.map(normalize) };
  }
  if (address === undefined && checksum === undefined) return {};
  if (!address && !checksum) return { archs: [] };
  return { archive: { ...(address ? { url: address } : {}), ...(checksum ? { sha: checksum.toLowerCase() } : {}) } };
};

/** Converts the attributes of a request to the settings that it names. */
export const toVersionChanges = (input: VersionAttributes): ToolVersionChanges =>
  omitUndefined({
    version: input.version,
    official: input.official,
    enabled: input.enabled,
    beta: input.beta,
    deprecated: input.deprecated,
    // A version that is no longer deprecated has no reason.
    deprecatedReason:
      input.deprecated === false ? null : input['deprecated-reason'] === '' ? null : input['deprecated-reason'],
    ...readArchives(input),
  });

/** Converts the attributes of a creation. */
export const toNewVersion = (
  input: z.infer<typeof terraformVersionBodies.create>['data']['attributes'],
): { readonly version: string; readonly settings: ToolVersionSettings } => {
  const { version: _, archive: defaultArchive, archs, ...changes } = toVersionChanges(input);
  const defaults = {
    official: false,
    enabled: true,
    beta: false,
    deprecated: false,
    deprecatedReason: null,
    archs: defaultArchive ? completeArchive(defaultArchive, []) : checkArchives(archs ?? [], []),
  };
  return { version: input.version, settings: { ...defaults, ...changes } };
};
