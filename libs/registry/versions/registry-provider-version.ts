import {
  checkProviderVersion,
  DEFAULT_PROTOCOLS,
  formatPlatform,
  PROTOCOLS,
  type Protocol,
} from '#provider-release/rules';
import {
  runAllChecks,
  conflict,
  fold,
  notFound,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#kernel';
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

/** A file that lies in the blob store. */
export type StoredFile = { readonly size: number; readonly sha256: string };

/** Which provider and version an event of a version is about, for who has nothing but the event. */
type VersionReference = { readonly name: string; readonly version: string };

/**
 * A version of a provider with its platforms and files: one stream, for its rules are about all of them.
 *
 *   absent ──create──► draft ──all files of it are here, and agree──► published ──delete──► deleted
 *
 * What a client would refuse is refused when it comes: SHA256SUMS must list each platform with its checksum, each zip
 * must have its checksum, the signature must be the key's (release-files.handler.ts proves the last two). So whatever
 * the flags call uploaded is good, and a version that has everything can be installed.
 *
 * While there is no platform nothing can be installed anyhow, and a signature is kept as it comes: SHA256SUMS, or the
 * key, may come after it. It waits to be proved, and may be replaced meanwhile.
 *
 * Published is said once. A platform that is added later is missing until its zip is here, and the others go on being
 * served meanwhile: nobody's builds fail because a platform is being added.
 */
export type RegistryProviderVersionEvent =
  | Message<
      'RegistryProviderVersionCreated',
      VersionReference & { provider: string; keyId: string; protocols: readonly Protocol[] }
    >
  | Message<'RegistryProviderShasumsUploaded', VersionReference & StoredFile & { listed: ListedChecksums }>
  /** It takes the place of one that could not be proved. */
  | Message<'RegistryProviderSignatureUploaded', VersionReference & StoredFile>
  /** The signature is that of SHA256SUMS, made by the key. */
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
  /** `siblings`: how many versions the provider has already. */
  | Message<
      'CreateVersion',
      VersionReference & { provider: string; keyId: string; protocols: readonly Protocol[] | null; siblings: number }
    >
  /** `flaw`: why the signature is none of these checksums; null where it is, or one of the two is not here yet. */
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
  /** Not `verified`: it waits to be proved. */
  readonly signature: (StoredFile & { readonly verified: boolean }) | null;
  readonly platforms: Platforms;
  readonly published: boolean;
};
export type RegistryProviderVersionState = { readonly status: 'absent' | 'deleted' } | ActiveProviderVersion;

const MAX_KEY_ID_LENGTH = 255;
/** Nobody has looked at the signature: whatever waits goes on waiting. */
const SIGNATURE_NOT_CHECKED = 'not looked at';

const toVersionReference = ({ name, version }: ActiveProviderVersion): VersionReference => ({ name, version });

const requirePlatform = ({ platforms }: ActiveProviderVersion, id: string): Platform => {
  const platform = platforms[id];
  if (!platform) throw notFound();
  return platform;
};

const alreadyUploaded = (what: string) => conflict(`${what} has been uploaded already; a file is uploaded once`);

/** No schema lets it through as a key: the log would tell less than was decided on. */
const checkFileNames = (listed: ListedChecksums): void => {
  if (Object.hasOwn(listed, '__proto__')) throw unprocessable('SHA256SUMS lists a file called __proto__');
};

/** Clients install from one document that lists all versions. It is built on the event loop. */
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

/** What makes a version whole: its checksums, their signature, and a zip for each platform, one at least. */
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

/** Adds what follows from the events: that the signature is proved, that the version is whole for the first time. */
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
  const now = evolveAll(state, proved);
  if (now.published || !isComplete(now)) return proved;
  const platforms = Object.values(now.platforms).map(formatPlatform).toSorted();
  const data = { ...toVersionReference(state), protocols: now.protocols, platforms };
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
      // Null is what go-tfe sends for none (clients.md §1).
      const named = protocols ?? DEFAULT_PROTOCOLS;
      runAllChecks(
        () => checkProviderVersion(version),
        () => checkVersionLimit(siblings),
        () => checkKeyId(keyId),
        () => checkProtocols(named),
      );
      const spoken = PROTOCOLS.filter((protocol) => named.includes(protocol));
      return [{ type: 'RegistryProviderVersionCreated', data: { provider, name, version, keyId, protocols: spoken } }];
    },
    AcceptShasums: ({ size, sha256, listed, flaw }, state) => {
      const before = requireActive(state);
      if (before.shasums) throw alreadyUploaded('SHA256SUMS');
      checkFileNames(listed);
      for (const platform of Object.values(before.platforms)) checkListedChecksum(platform, listed);
      if (flaw !== null && hasPlatforms(before)) {
        throw unprocessable(`The signature that was uploaded before is not one of this SHA256SUMS: ${flaw}`);
      }
      const data = { ...toVersionReference(before), size, sha256, listed };
      return withFollowUpEvents(before, flaw, [{ type: 'RegistryProviderShasumsUploaded', data }]);
    },
    AcceptSignature: ({ size, sha256, flaw }, state) => {
      const before = requireActive(state);
      if (before.signature?.verified) throw alreadyUploaded('The signature');
      if (flaw !== null && hasPlatforms(before)) throw unprocessable(`SHA256SUMS.sig: ${flaw}`);
      const data = { ...toVersionReference(before), size, sha256 };
      // The same once more is no news: sent again by who was not answered, or because the key is there now.
      const isKnown = before.signature?.sha256 === sha256;
      return withFollowUpEvents(before, flaw, isKnown ? [] : [{ type: 'RegistryProviderSignatureUploaded', data }]);
    },
    CreatePlatform: ({ platform, ...given }, state) => {
      const before = requireActive(state);
      const facts = checkPlatform(given);
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
    // Without the one whose zip was still to come the others may be whole.
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
      updateActive(state, ({ platforms: { [platform]: _gone, ...platforms } }) => ({ platforms })),
    RegistryProviderVersionPublished: (_, state) => updateActive(state, () => ({ published: true })),
    RegistryProviderVersionDeleted: () => ({ status: 'deleted' }),
  },
};

const updateActive = (
  state: RegistryProviderVersionState,
  change: (state: ActiveProviderVersion) => Partial<ActiveProviderVersion>,
): RegistryProviderVersionState => (state.status === 'active' ? { ...state, ...change(state) } : state);
