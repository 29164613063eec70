import {
  checkProviderVersion,
  DEFAULT_PROTOCOLS,
  formatPlatform,
  PROTOCOLS,
  type Protocol,
} from '#registry/provider-release/rules';
import {
  runAllChecks,
  conflict,
  fold,
  notFound,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#platform/kernel';
import {
  checkListedChecksum,
  checkPlatform,
  checkPlatformLimits,
  toPlatformAttributes,
  type ListedChecksums,
  type Platform,
  type PlatformAttributes,
  type Platforms,
} from '../platforms/registry-provider-platform.js';

/** Size in bytes and checksum of a file in the blob store. */
export type StoredFile = { readonly size: number; readonly sha256: string };

/** Provider and version, so that a reader of a single event knows what it is about. */
type VersionReference = { readonly name: string; readonly version: string };

/**
 * A version of a provider with its platforms and files, in one stream because its rules concern all of them.
 *
 *   absent ──create──► draft ──all files are uploaded and match──► published ──delete──► deleted
 *
 * Files that clients would refuse are refused on upload: SHA256SUMS must list each platform with its checksum, each zip
 * must have its checksum, and the signature must be by the key (release-file.receiver.ts checks the last two). So every
 * uploaded file is valid, and a version with all files can be installed.
 *
 * A version without platforms cannot be installed. Until it has one, a signature is accepted unverified and can be
 * replaced, because SHA256SUMS or the key may be uploaded later.
 *
 * A version is published once. A platform that is added later is missing until its zip is uploaded, and the others are
 * still served, so that adding a platform breaks no builds.
 */
export type RegistryProviderVersionEvent =
  | Message<
      'RegistryProviderVersionCreated',
      VersionReference & { provider: string; keyId: string; protocols: readonly Protocol[] }
    >
  | Message<'RegistryProviderShasumsUploaded', VersionReference & StoredFile & { listed: ListedChecksums }>
  /** Replaces a signature that could not be verified. */
  | Message<'RegistryProviderSignatureUploaded', VersionReference & StoredFile>
  /** The signature of SHA256SUMS is by the key. */
  | Message<'RegistryProviderSignatureVerified', VersionReference & { keyId: string; sha256: string }>
  | Message<'RegistryProviderPlatformCreated', VersionReference & PlatformAttributes & { platform: string }>
  | Message<
      'RegistryProviderBinaryUploaded',
      VersionReference & PlatformAttributes & { platform: string; size: number }
    >
  | Message<'RegistryProviderPlatformDeleted', VersionReference & PlatformAttributes & { platform: string }>
  | Message<
      'RegistryProviderVersionPublished',
      VersionReference & { protocols: readonly Protocol[]; platforms: readonly string[] }
    >
  | Message<'RegistryProviderVersionDeleted', VersionReference>;

export type RegistryProviderVersionCommand =
  /** `siblings`: number of versions that the provider already has. */
  | Message<
      'CreateVersion',
      VersionReference & { provider: string; keyId: string; protocols: readonly Protocol[] | null; siblings: number }
    >
  /**
   * `flaw`: why the signature does not match SHA256SUMS; null if it matches, or if one of the two is not uploaded yet.
   */
  | Message<'AcceptShasums', StoredFile & { listed: ListedChecksums; flaw: string | null }>
  | Message<'AcceptSignature', StoredFile & { flaw: string | null }>
  | Message<'CreatePlatform', PlatformAttributes & { platform: string }>
  | Message<'AcceptBinary', { platform: string; size: number; flaw: string | null }>
  | Message<'DeletePlatform', { platform: string }>
  | Message<'DeleteVersion', Record<never, never>>;

type ActiveProviderVersion = VersionReference & {
  readonly status: 'active';
  readonly provider: string;
  readonly keyId: string;
  readonly protocols: readonly Protocol[];
  readonly shasums: (StoredFile & { readonly listed: ListedChecksums }) | null;
  /** Waits for verification while `verified` is false. */
  readonly signature: (StoredFile & { readonly verified: boolean }) | null;
  readonly platforms: Platforms;
  readonly published: boolean;
};
export type RegistryProviderVersionState = { readonly status: 'absent' | 'deleted' } | ActiveProviderVersion;

const MAX_KEY_ID_LENGTH = 255;
/** Flaw of a signature that this command does not check, so that it stays unverified. */
const SIGNATURE_NOT_CHECKED = 'not looked at';

const toVersionReference = ({ name, version }: ActiveProviderVersion): VersionReference => ({ name, version });

const requirePlatform = ({ platforms }: ActiveProviderVersion, id: string): Platform => {
  const platform = platforms[id];
  if (!platform) throw notFound();
  return platform;
};

const alreadyUploaded = (what: string) => conflict(`${what} has been uploaded already; a file is uploaded once`);

/** The event schema drops `__proto__` as a key, so the log would contain less than the decision was based on. */
const checkFileNames = (listed: ListedChecksums): void => {
  if (Object.hasOwn(listed, '__proto__')) throw unprocessable('SHA256SUMS lists a file called __proto__');
};

/** Clients install from one document that lists all versions. The event loop is blocked while it is built. */
export const MAX_VERSIONS = 10_000;

const checkVersionLimit = (siblings: number): void => {
  if (siblings >= MAX_VERSIONS) {
    throw unprocessable(
      `A provider can have at most ${MAX_VERSIONS} versions. Delete versions that are not used`,
      'version',
    );
  }
};

const checkProtocols = (protocols: readonly Protocol[]): void => {
  if (protocols.length === 0) throw unprocessable("Protocols can't be blank", 'protocols');
};

const checkKeyId = (keyId: string): void => {
  if (keyId.trim() === '') throw unprocessable("Key id can't be blank", 'key-id');
  if (keyId.length > MAX_KEY_ID_LENGTH)
    throw unprocessable(`Key id is too long (at most ${MAX_KEY_ID_LENGTH} characters)`, 'key-id');
};

/**
 * Returns whether the version has checksums, their verified signature, at least one platform, and a zip for each
 * platform.
 */
const isComplete = ({ shasums, signature, platforms }: ActiveProviderVersion): boolean => {
  const all = Object.values(platforms);
  return shasums !== null && signature?.verified === true && all.length > 0 && all.every(({ size }) => size !== null);
};

const evolveAll = (
  state: ActiveProviderVersion,
  events: readonly RegistryProviderVersionEvent[],
): ActiveProviderVersion =>
  requireActive(
    fold<RegistryProviderVersionState, RegistryProviderVersionEvent>(registryProviderVersion, state, events),
  );

/** Adds the events that follow: the signature is verified, and the version is complete for the first time. */
const withFollowUpEvents = (
  state: ActiveProviderVersion,
  flaw: string | null,
  events: readonly RegistryProviderVersionEvent[],
): readonly RegistryProviderVersionEvent[] => {
  const { shasums, signature, keyId } = evolveAll(state, events);
  const isProved = shasums !== null && signature?.verified === false && flaw === null;
  const proved: readonly RegistryProviderVersionEvent[] = isProved
    ? [
        ...events,
        {
          type: 'RegistryProviderSignatureVerified',
          data: { ...toVersionReference(state), keyId, sha256: signature.sha256 },
        },
      ]
    : events;
  const after = evolveAll(state, proved);
  if (after.published || !isComplete(after)) return proved;
  const platforms = Object.values(after.platforms).map(formatPlatform).toSorted();
  const data = { ...toVersionReference(state), protocols: after.protocols, platforms };
  return [...proved, { type: 'RegistryProviderVersionPublished', data }];
};

const hasPlatforms = ({ platforms }: ActiveProviderVersion): boolean => Object.keys(platforms).length > 0;

const toPlatformDeleted = (state: ActiveProviderVersion, platform: string) =>
  ({
    type: 'RegistryProviderPlatformDeleted',
    data: { ...toVersionReference(state), platform, ...toPlatformAttributes(requirePlatform(state, platform)) },
  }) as const;

export const registryProviderVersion: Decider<
  RegistryProviderVersionState,
  RegistryProviderVersionCommand,
  RegistryProviderVersionEvent
> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateVersion: ({ provider, name, version, keyId, protocols, siblings }, state) => {
      if (state.status !== 'absent') throw conflict('Registry provider version exists already');
      // go-tfe sends null if no protocol is set.
      const requested = protocols ?? DEFAULT_PROTOCOLS;
      runAllChecks(
        () => checkProviderVersion(version),
        () => checkVersionLimit(siblings),
        () => checkKeyId(keyId),
        () => checkProtocols(requested),
      );
      const sorted = PROTOCOLS.filter((protocol) => requested.includes(protocol));
      return [{ type: 'RegistryProviderVersionCreated', data: { provider, name, version, keyId, protocols: sorted } }];
    },
    AcceptShasums: ({ size, sha256, listed, flaw }, state) => {
      const before = requireActive(state);
      if (before.shasums) throw alreadyUploaded('SHA256SUMS');
      checkFileNames(listed);
      for (const platform of Object.values(before.platforms)) checkListedChecksum(platform, listed);
      if (flaw !== null && hasPlatforms(before)) {
        throw unprocessable(`The signature that was uploaded before does not match this SHA256SUMS: ${flaw}`);
      }
      const data = { ...toVersionReference(before), size, sha256, listed };
      return withFollowUpEvents(before, flaw, [{ type: 'RegistryProviderShasumsUploaded', data }]);
    },
    AcceptSignature: ({ size, sha256, flaw }, state) => {
      const before = requireActive(state);
      if (before.signature?.verified) throw alreadyUploaded('The signature');
      if (flaw !== null && hasPlatforms(before)) throw unprocessable(`SHA256SUMS.sig: ${flaw}`);
      const data = { ...toVersionReference(before), size, sha256 };
      // A client sends the same signature again if it got no response, or after the key was added. The second upload
      // appends no event of its own.
      const isRepeated = before.signature?.sha256 === sha256;
      return withFollowUpEvents(before, flaw, isRepeated ? [] : [{ type: 'RegistryProviderSignatureUploaded', data }]);
    },
    CreatePlatform: ({ platform, ...attributes }, state) => {
      const before = requireActive(state);
      const facts = checkPlatform(attributes);
      checkPlatformLimits(facts, before.platforms);
      if (before.shasums) checkListedChecksum(facts, before.shasums.listed, 'shasum');
      return [{ type: 'RegistryProviderPlatformCreated', data: { ...toVersionReference(before), platform, ...facts } }];
    },
    AcceptBinary: ({ platform, size, flaw }, state) => {
      const before = requireActive(state);
      const its = requirePlatform(before, platform);
      if (its.size !== null) throw alreadyUploaded(its.filename);
      const data = { ...toVersionReference(before), platform, ...toPlatformAttributes(its), size };
      return withFollowUpEvents(before, flaw, [{ type: 'RegistryProviderBinaryUploaded', data }]);
    },
    // If only this platform lacked its zip, the version becomes complete.
    DeletePlatform: ({ platform }, state) => {
      const before = requireActive(state);
      return withFollowUpEvents(before, SIGNATURE_NOT_CHECKED, [toPlatformDeleted(before, platform)]);
    },
    DeleteVersion: (_, state) => {
      const before = requireActive(state);
      return [
        ...Object.keys(before.platforms).map((platform) => toPlatformDeleted(before, platform)),
        { type: 'RegistryProviderVersionDeleted', data: toVersionReference(before) },
      ];
    },
  },
  evolve: {
    RegistryProviderVersionCreated: (data) => ({
      status: 'active',
      ...data,
      shasums: null,
      signature: null,
      platforms: {},
      published: false,
    }),
    RegistryProviderShasumsUploaded: ({ size, sha256, listed }, state) =>
      updateActive(state, () => ({ shasums: { size, sha256, listed } })),
    RegistryProviderSignatureUploaded: ({ size, sha256 }, state) =>
      updateActive(state, () => ({ signature: { size, sha256, verified: false } })),
    RegistryProviderSignatureVerified: (_, state) =>
      updateActive(state, ({ signature }) => ({ signature: signature && { ...signature, verified: true } })),
    RegistryProviderPlatformCreated: ({ platform, os, arch, filename, shasum }, state) =>
      updateActive(state, ({ platforms }) => ({
        platforms: { ...platforms, [platform]: { os, arch, filename, shasum, size: null } },
      })),
    RegistryProviderBinaryUploaded: ({ platform, os, arch, filename, shasum, size }, state) =>
      updateActive(state, ({ platforms }) => ({
        platforms: { ...platforms, [platform]: { os, arch, filename, shasum, size } },
      })),
    RegistryProviderPlatformDeleted: ({ platform }, state) =>
      updateActive(state, ({ platforms: { [platform]: _deleted, ...platforms } }) => ({ platforms })),
    RegistryProviderVersionPublished: (_, state) => updateActive(state, () => ({ published: true })),
    RegistryProviderVersionDeleted: () => ({ status: 'deleted' }),
  },
};

const updateActive = (
  state: RegistryProviderVersionState,
  change: (state: ActiveProviderVersion) => Partial<ActiveProviderVersion>,
): RegistryProviderVersionState => (state.status === 'active' ? { ...state, ...change(state) } : state);
