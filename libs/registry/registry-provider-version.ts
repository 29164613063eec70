import { checkVersion, DEFAULT_PROTOCOLS, nameOfPlatform, PROTOCOLS, type Protocol } from '#provider-release/rules';
import { checkAll, conflict, fold, notFound, requireActive, unprocessable, type Decider, type Message } from '#kernel';
import {
  checkListed,
  checkPlatform,
  checkRoomFor,
  factsOf,
  type Checksums,
  type Platform,
  type PlatformFacts,
  type Platforms,
} from './registry-provider-platform.js';

/** A file that lies in the blob store. */
export type StoredFile = { readonly size: number; readonly sha256: string };

/** Which provider and version an event of a version is about, for who has nothing but the event. */
type Of = { readonly name: string; readonly version: string };

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
  | Message<'RegistryProviderVersionCreated', Of & { provider: string; keyId: string; protocols: readonly Protocol[] }>
  | Message<'RegistryProviderShasumsUploaded', Of & StoredFile & { listed: Checksums }>
  /** It takes the place of one that could not be proved. */
  | Message<'RegistryProviderSignatureUploaded', Of & StoredFile>
  /** The signature is that of SHA256SUMS, made by the key. */
  | Message<'RegistryProviderSignatureVerified', Of & { keyId: string; sha256: string }>
  | Message<'RegistryProviderPlatformCreated', Of & PlatformFacts & { platform: string }>
  | Message<'RegistryProviderBinaryUploaded', Of & PlatformFacts & { platform: string; size: number }>
  | Message<'RegistryProviderPlatformDeleted', Of & PlatformFacts & { platform: string }>
  | Message<'RegistryProviderVersionPublished', Of & { protocols: readonly Protocol[]; platforms: readonly string[] }>
  | Message<'RegistryProviderVersionDeleted', Of>;

export type RegistryProviderVersionCommand =
  /** `siblings`: how many versions the provider has already. */
  | Message<
      'CreateVersion',
      Of & { provider: string; keyId: string; protocols: readonly Protocol[] | null; siblings: number }
    >
  /** `flaw`: why the signature is none of these checksums; null where it is, or one of the two is not here yet. */
  | Message<'AcceptShasums', StoredFile & { listed: Checksums; flaw: string | null }>
  | Message<'AcceptSignature', StoredFile & { flaw: string | null }>
  | Message<'CreatePlatform', PlatformFacts & { platform: string }>
  | Message<'AcceptBinary', { platform: string; size: number; flaw: string | null }>
  | Message<'DeletePlatform', { platform: string }>
  | Message<'DeleteVersion', Record<never, never>>;

type Active = Of & {
  readonly status: 'active';
  readonly provider: string;
  readonly keyId: string;
  readonly protocols: readonly Protocol[];
  readonly shasums: (StoredFile & { readonly listed: Checksums }) | null;
  /** Not `verified`: it waits to be proved. */
  readonly signature: (StoredFile & { readonly verified: boolean }) | null;
  readonly platforms: Platforms;
  readonly published: boolean;
};
export type RegistryProviderVersion = { readonly status: 'absent' | 'deleted' } | Active;

const KEY_ID_MOST = 255;
/** Nobody has looked at the signature: whatever waits goes on waiting. */
const UNASKED = 'not looked at';

const ofState = ({ name, version }: Active): Of => ({ name, version });

const platformIn = ({ platforms }: Active, id: string): Platform => {
  const platform = platforms[id];
  if (!platform) throw notFound();
  return platform;
};

const alreadyUploaded = (what: string) => conflict(`${what} has been uploaded already; a file is uploaded once`);

/** No schema lets it through as a key: the log would tell less than was decided on. */
const checkKeepable = (listed: Checksums): void => {
  if (Object.hasOwn(listed, '__proto__')) throw unprocessable('SHA256SUMS lists a file called __proto__');
};

/** Clients install from one document that lists all versions. It is built on the event loop. */
export const VERSIONS_MOST = 10_000;

const checkVersionsRoom = (siblings: number): void => {
  if (siblings >= VERSIONS_MOST) {
    throw unprocessable(
      `A provider can have at most ${VERSIONS_MOST} versions. Delete versions that are not used`,
      'version',
    );
  }
};

const checkProtocols = (protocols: readonly Protocol[]): void => {
  if (protocols.length === 0) throw unprocessable("Protocols can't be blank", 'protocols');
};

const checkKeyId = (keyId: string): void => {
  if (keyId.trim() === '') throw unprocessable("Key id can't be blank", 'key-id');
  if (keyId.length > KEY_ID_MOST)
    throw unprocessable(`Key id is too long (at most ${KEY_ID_MOST} characters)`, 'key-id');
};

/** What makes a version whole: its checksums, their signature, and a zip for each platform, one at least. */
const isWhole = ({ shasums, signature, platforms }: Active): boolean => {
  const all = Object.values(platforms);
  return shasums !== null && signature?.verified === true && all.length > 0 && all.every(({ size }) => size !== null);
};

const after = (state: Active, events: readonly RegistryProviderVersionEvent[]): Active =>
  requireActive(fold<RegistryProviderVersion, RegistryProviderVersionEvent>(registryProviderVersion, state, events));

/** Adds what follows from the events: that the signature is proved, that the version is whole for the first time. */
const followed = (
  state: Active,
  flaw: string | null,
  events: readonly RegistryProviderVersionEvent[],
): readonly RegistryProviderVersionEvent[] => {
  const { shasums, signature, keyId } = after(state, events);
  const isProved = shasums !== null && signature?.verified === false && flaw === null;
  const proved: readonly RegistryProviderVersionEvent[] = isProved
    ? [
        ...events,
        { type: 'RegistryProviderSignatureVerified', data: { ...ofState(state), keyId, sha256: signature.sha256 } },
      ]
    : events;
  const now = after(state, proved);
  if (now.published || !isWhole(now)) return proved;
  const platforms = Object.values(now.platforms).map(nameOfPlatform).toSorted();
  const data = { ...ofState(state), protocols: now.protocols, platforms };
  return [...proved, { type: 'RegistryProviderVersionPublished', data }];
};

const hasPlatforms = ({ platforms }: Active): boolean => Object.keys(platforms).length > 0;

const deletionOf = (state: Active, platform: string) =>
  ({
    type: 'RegistryProviderPlatformDeleted',
    data: { ...ofState(state), platform, ...factsOf(platformIn(state, platform)) },
  }) as const;

export const registryProviderVersion: Decider<
  RegistryProviderVersion,
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
      checkAll(
        () => checkVersion(version),
        () => checkVersionsRoom(siblings),
        () => checkKeyId(keyId),
        () => checkProtocols(named),
      );
      const spoken = PROTOCOLS.filter((protocol) => named.includes(protocol));
      return [{ type: 'RegistryProviderVersionCreated', data: { provider, name, version, keyId, protocols: spoken } }];
    },
    AcceptShasums: ({ size, sha256, listed, flaw }, state) => {
      const before = requireActive(state);
      if (before.shasums) throw alreadyUploaded('SHA256SUMS');
      checkKeepable(listed);
      for (const platform of Object.values(before.platforms)) checkListed(platform, listed);
      if (flaw !== null && hasPlatforms(before)) {
        throw unprocessable(`The signature that was uploaded before is not one of this SHA256SUMS: ${flaw}`);
      }
      const data = { ...ofState(before), size, sha256, listed };
      return followed(before, flaw, [{ type: 'RegistryProviderShasumsUploaded', data }]);
    },
    AcceptSignature: ({ size, sha256, flaw }, state) => {
      const before = requireActive(state);
      if (before.signature?.verified) throw alreadyUploaded('The signature');
      if (flaw !== null && hasPlatforms(before)) throw unprocessable(`SHA256SUMS.sig: ${flaw}`);
      const data = { ...ofState(before), size, sha256 };
      // The same once more is no news: sent again by who was not answered, or because the key is there now.
      const isKnown = before.signature?.sha256 === sha256;
      return followed(before, flaw, isKnown ? [] : [{ type: 'RegistryProviderSignatureUploaded', data }]);
    },
    CreatePlatform: ({ platform, ...given }, state) => {
      const before = requireActive(state);
      const facts = checkPlatform(given);
      checkRoomFor(facts, before.platforms);
      if (before.shasums) checkListed(facts, before.shasums.listed, 'shasum');
      return [{ type: 'RegistryProviderPlatformCreated', data: { ...ofState(before), platform, ...facts } }];
    },
    AcceptBinary: ({ platform, size, flaw }, state) => {
      const before = requireActive(state);
      const its = platformIn(before, platform);
      if (its.size !== null) throw alreadyUploaded(its.filename);
      const data = { ...ofState(before), platform, ...factsOf(its), size };
      return followed(before, flaw, [{ type: 'RegistryProviderBinaryUploaded', data }]);
    },
    // Without the one whose zip was still to come the others may be whole.
    DeletePlatform: ({ platform }, state) => {
      const before = requireActive(state);
      return followed(before, UNASKED, [deletionOf(before, platform)]);
    },
    DeleteVersion: (_, state) => {
      const before = requireActive(state);
      return [
        ...Object.keys(before.platforms).map((platform) => deletionOf(before, platform)),
        { type: 'RegistryProviderVersionDeleted', data: ofState(before) },
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
      changed(state, () => ({ shasums: { size, sha256, listed } })),
    RegistryProviderSignatureUploaded: ({ size, sha256 }, state) =>
      changed(state, () => ({ signature: { size, sha256, verified: false } })),
    RegistryProviderSignatureVerified: (_, state) =>
      changed(state, ({ signature }) => ({ signature: signature && { ...signature, verified: true } })),
    RegistryProviderPlatformCreated: ({ platform, os, arch, filename, shasum }, state) =>
      changed(state, ({ platforms }) => ({
        platforms: { ...platforms, [platform]: { os, arch, filename, shasum, size: null } },
      })),
    RegistryProviderBinaryUploaded: ({ platform, os, arch, filename, shasum, size }, state) =>
      changed(state, ({ platforms }) => ({
        platforms: { ...platforms, [platform]: { os, arch, filename, shasum, size } },
      })),
    RegistryProviderPlatformDeleted: ({ platform }, state) =>
      changed(state, ({ platforms: { [platform]: _gone, ...platforms } }) => ({ platforms })),
    RegistryProviderVersionPublished: (_, state) => changed(state, () => ({ published: true })),
    RegistryProviderVersionDeleted: () => ({ status: 'deleted' }),
  },
};

const changed = (
  state: RegistryProviderVersion,
  change: (state: Active) => Partial<Active>,
): RegistryProviderVersion => (state.status === 'active' ? { ...state, ...change(state) } : state);
