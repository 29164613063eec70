import { parse } from 'semver';
import { checkName, unprocessable } from '#platform/kernel';

/**
 * Rules for the names in a release, used by the server and by the publishing command. A name that passes is safe in a
 * path. The server accepts what clients of the vendor's API usually send. The command is stricter, because clients must
 * be able to install what it publishes.
 */

const MAX_NAME_LENGTH = 64;
/** Clients reject such a source without a request (addrs.ParseProviderSource). */
const PREFIX = 'terraform-';
const PROVIDER_NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;

/** Rejects names that the API allows for no provider. */
export const checkProviderName = (name: string): void => {
  const allowed = 'lowercase letters and numbers, and single dashes and underscores between them';
  checkName(name, { pattern: PROVIDER_NAME, allowed, most: MAX_NAME_LENGTH });
  if (name.startsWith(PREFIX)) throw unprocessable(`Name must not begin with ${PREFIX}: clients refuse it`, 'name');
};

/**
 * Same rule as addrs.ParseProviderPart of the clients, which treat names as lower-case domain labels: no dash at either
 * end, no two dashes in a row. Clients accept letters of all scripts; their registry and this server accept only ASCII.
 */
const SOURCE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Rejects names that cannot be the last part of a provider's source, such as `google-beta` in `acme/google-beta`. */
export const checkSourceName = (name: string): void => {
  const allowed = 'lowercase letters and numbers, and single dashes between them';
  checkName(name, { pattern: SOURCE_NAME, allowed, most: MAX_NAME_LENGTH });
  checkProviderName(name);
};

/** Rejects texts that are not a semantic version in its exact form: no leading `v`, no spaces, no omitted parts. */
export const checkProviderVersion = (version: string): void => {
  const parsed = parse(version);
  const build = parsed?.build.length ? `+${parsed.build.join('.')}` : '';
  if (!parsed || `${parsed.version}${build}` !== version) {
    throw unprocessable(
      'Version is invalid: it must be a semantic version such as 1.2.3 or 1.2.3-beta.1, with no v before it',
      'version',
    );
  }
};

/**
 * Returns a version without its build metadata. Clients treat versions that differ only in build metadata as the same
 * (semver §10).
 */
export const stripBuildMetadata = (version: string): string => parse(version)?.version ?? version;

const PLATFORM_NAME_RULE = {
  pattern: /^[a-z0-9_][a-z0-9_-]*$/,
  allowed: 'lowercase letters, numbers, underscores and dashes',
  most: 64,
};

/** Rejects names that do not look like Go's names of operating systems: `linux`, `darwin`, `windows`. */
export const checkOs = (os: string): void => checkName(os, { attribute: 'os', ...PLATFORM_NAME_RULE });

/** Rejects names that do not look like Go's names of processors: `amd64`, `arm64`, `386`. */
export const checkArch = (arch: string): void => checkName(arch, { attribute: 'arch', ...PLATFORM_NAME_RULE });

/** Returns a platform in the form that releases and options of clients use: `linux_amd64`. */
export const formatPlatform = ({ os, arch }: { readonly os: string; readonly arch: string }): string => `${os}_${arch}`;

const FILENAME = /^[A-Za-z0-9._+-]+$/;

/**
 * Rejects file names that a platform's zip cannot have. Clients find the name in SHA256SUMS as the word after the
 * checksum, so it has no spaces. Other programs would read a leading dash as an option.
 */
export const checkFilename = (filename: string): void => {
  const allowed = 'letters, numbers, dots, underscores, dashes and plus signs';
  checkName(filename, { attribute: 'filename', pattern: FILENAME, allowed, most: 255 });
  if (/^[.-]/.test(filename)) throw unprocessable('Filename must not begin with a dot or a dash', 'filename');
};

const SHA256 = /^[0-9a-f]{64}$/i;

/** Returns whether a text is a SHA-256 checksum in hex, in upper or lower case. */
export const isShasum = (text: string): boolean => SHA256.test(text);

/**
 * Rejects an empty or unprintable text. Any other text is accepted as a declared checksum, as in the vendor's API:
 * clients expect to read it back. If it is not a possible checksum, every upload is refused.
 */
export const checkShasum = (shasum: string): void =>
  checkName(shasum, {
    attribute: 'shasum',
    pattern: /^[!-~]+$/,
    allowed: 'printable characters, and no space',
    most: 255,
  });

/** Returns a checksum in lower case, as it is stored and compared. Returns other texts unchanged. */
export const normalizeShasum = (shasum: string): string => (isShasum(shasum) ? shasum.toLowerCase() : shasum);

/** Protocol versions between Terraform and providers that a registry can list. */
export const PROTOCOLS = ['4.0', '5.0', '6.0'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Protocol of a provider if the client names none, as in the vendor's registry. */
export const DEFAULT_PROTOCOLS: readonly Protocol[] = ['5.0'];
