import { parse } from 'semver';
import { checkName, unprocessable } from '#kernel';

/**
 * What the parts of a release may be called, for the server and for the command that publishes. Whatever passes here
 * may stand in a path. The server takes what clients of the vendor's API are used to give; the command is stricter, for
 * what it publishes is to be installed.
 */

const MAX_NAME_LENGTH = 64;
/** The clients refuse such a source without asking anybody (addrs.ParseProviderSource). */
const PREFIX = 'terraform-';
const PROVIDER_NAME = /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/;

/** Refuses what the API gives no provider for a name. */
export const checkProviderName = (name: string): void => {
  const allowed = 'lowercase letters and numbers, and single dashes and underscores between them';
  checkName(name, { pattern: PROVIDER_NAME, allowed, most: MAX_NAME_LENGTH });
  if (name.startsWith(PREFIX)) throw unprocessable(`Name must not begin with ${PREFIX}: clients refuse it`, 'name');
};

/**
 * As addrs.ParseProviderPart of the clients has it, who ask for names as labels of domains in lower case: no dash at the
 * ends, no two in a row. They take letters of all scripts; their own registry, and we, only those of ASCII.
 */
const SOURCE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Refuses what cannot be the last part of a provider's source, such as `google-beta` in `acme/google-beta`. */
export const checkSourceName = (name: string): void => {
  const allowed = 'lowercase letters and numbers, and single dashes between them';
  checkName(name, { pattern: SOURCE_NAME, allowed, most: MAX_NAME_LENGTH });
  checkProviderName(name);
};

/** Refuses what is no semantic version in its one exact form: no leading `v`, no spaces, nothing left away. */
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

/** A version without its build metadata: versions that differ in that alone are one to the clients (semver §10). */
export const stripBuildMetadata = (version: string): string => parse(version)?.version ?? version;

const PLATFORM_NAME_RULE = {
  pattern: /^[a-z0-9_][a-z0-9_-]*$/,
  allowed: 'lowercase letters, numbers, underscores and dashes',
  most: 64,
};

/** As Go calls operating systems: `linux`, `darwin`, `windows`. */
export const checkOs = (os: string): void => checkName(os, { attribute: 'os', ...PLATFORM_NAME_RULE });

/** As Go calls processors: `amd64`, `arm64`, `386`. */
export const checkArch = (arch: string): void => checkName(arch, { attribute: 'arch', ...PLATFORM_NAME_RULE });

/** A system as releases and the clients' options write it: `linux_amd64`. */
export const formatPlatform = ({ os, arch }: { readonly os: string; readonly arch: string }): string => `${os}_${arch}`;

const FILENAME = /^[A-Za-z0-9._+-]+$/;

/**
 * Refuses what may not be the name of a platform's zip. Clients look it up in SHA256SUMS as the word after the checksum,
 * so there is no space in it; and a name that begins with a dash is an option to other programs.
 */
export const checkFilename = (filename: string): void => {
  const allowed = 'letters, numbers, dots, underscores, dashes and plus signs';
  checkName(filename, { attribute: 'filename', pattern: FILENAME, allowed, most: 255 });
  if (/^[.-]/.test(filename)) throw unprocessable('Filename must not begin with a dot or a dash', 'filename');
};

const SHA256 = /^[0-9a-f]{64}$/i;

/** Whether a text is a SHA-256 checksum in hex, of any case. */
export const isShasum = (text: string): boolean => SHA256.test(text);

/**
 * Refuses what says nothing. Any other text is taken for what a platform declares, as by the vendor's API: clients rely on
 * reading it back, and where it can be the checksum of nothing no file will ever be taken for it.
 */
export const checkShasum = (shasum: string): void =>
  checkName(shasum, {
    attribute: 'shasum',
    pattern: /^[!-~]+$/,
    allowed: 'printable characters, and no space',
    most: 255,
  });

/** A checksum as it is kept and compared: in lower case. What is none stays as it came. */
export const normalizeShasum = (shasum: string): string => (isShasum(shasum) ? shasum.toLowerCase() : shasum);

/** Protocols between the tools and providers that a registry may tell of (contract §4.4, §9). */
export const PROTOCOLS = ['4.0', '5.0', '6.0'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What a provider speaks where nobody says it (clients.md §1), as in the vendor's registry. */
export const DEFAULT_PROTOCOLS: readonly Protocol[] = ['5.0'];
