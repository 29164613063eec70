import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  notFound,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';
import { checkProviderVersion, stripBuildMetadata } from '#registry/provider-release/rules';

/** Names of a module, unique in its organization regardless of case. */
export type ModuleNames = { readonly name: string; readonly provider: string };

const names = { name: z.string(), provider: z.string() };
/** `number`: the first version of a module has 1, the next one 2. Numbers of deleted versions are not used again. */
const version = { ...names, versionId: z.string(), version: z.string(), number: z.int() };

const metaOfVersion = ({ name, provider, version: text }: ModuleNames & { readonly version: string }) => ({
  name,
  provider,
  module_version: text,
});

/**
 * A private module in the registry of an organization, with its versions. Events contain no files: the archive of a version
 * is in the file store under the id of the version.
 *
 *   absent ──create──► active ──delete, or delete the last version──► deleted
 *
 *   version: created ──upload──► installable ──delete──► deleted
 */
export const registryModuleEvents = defineEvents(
  {
    topic: 'registry',
    stream: 'mod',
    audited: 'registry_module',
    live: inOrganization('registry-modules', 'read-modules'),
  },
  {
    RegistryModuleCreated: {
      schema: z.strictObject({ ...names, noCode: z.boolean() }),
      audit: { action: 'create', meta: ({ name, provider }) => ({ name, provider }) },
      live: 'created',
    },
    RegistryModuleUpdated: {
      schema: z.strictObject({ ...names, noCode: z.boolean() }),
      audit: {
        action: 'update',
        meta: ({ name, provider, noCode }) => ({ name, provider, change: 'no_code', no_code: noCode }),
      },
      live: 'changed',
    },
    RegistryModuleVersionCreated: {
      schema: z.strictObject({ ...version, commitSha: z.string().nullable() }),
      audit: {
        action: 'update',
        meta: ({ commitSha, ...data }) => ({
          ...metaOfVersion(data),
          change: 'version_created',
          ...(commitSha === null ? {} : { commit_sha: commitSha }),
        }),
      },
      live: 'changed',
      ids: { creates: { versionId: 'modver' } },
    },
    /** `archive`: the number of the file. */
    RegistryModuleVersionUploaded: {
      schema: z.strictObject({ ...version, archive: z.int(), size: z.number(), sha256: z.string() }),
      audit: {
        action: 'update',
        meta: ({ size, sha256, ...data }) => ({ ...metaOfVersion(data), change: 'version_uploaded', size, sha256 }),
      },
      live: 'changed',
      ids: { refersTo: { versionId: ['modver'] } },
    },
    RegistryModuleVersionDeleted: {
      schema: z.strictObject(version),
      audit: {
        action: 'destroy_version',
        meta: ({ number, ...data }) => ({ ...metaOfVersion(data), version: number }),
      },
      live: 'changed',
      ids: { refersTo: { versionId: ['modver'] } },
    },
    RegistryModuleDeleted: {
      schema: z.strictObject(names),
      audit: { action: 'destroy', meta: ({ name, provider }) => ({ name, provider }) },
      live: 'deleted',
    },
  },
);

export type RegistryModuleEvent = EventsOf<typeof registryModuleEvents>;

export type ModuleUploadCommand = Message<
  'UploadModuleVersion',
  { versionId: string; archive: number; size: number; sha256: string }
>;

type RegistryModuleCommand =
  | Message<'CreateRegistryModule', ModuleNames & { noCode: boolean }>
  | Message<'UpdateRegistryModule', { noCode: boolean | undefined }>
  | Message<'CreateModuleVersion', { versionId: string; version: string; commitSha: string | null }>
  | ModuleUploadCommand
  | Message<'DeleteModuleVersion', { version: string }>
  | Message<'DeleteRegistryModule', Record<never, never>>;

/** `number`: the number of the file. */
type UploadedArchive = { readonly number: number; readonly sha256: string };

type ModuleVersionState = {
  readonly version: string;
  readonly number: number;
  /** Null until the archive is uploaded. */
  readonly archive: UploadedArchive | null;
};

type ActiveModule = ModuleNames & {
  readonly status: 'active';
  readonly noCode: boolean;
  /** The number of the newest version, which may be deleted. */
  readonly numbered: number;
  /** By id. */
  readonly versions: Readonly<Record<string, ModuleVersionState>>;
};

export type RegistryModuleState = { readonly status: 'absent' | 'deleted' } | ActiveModule;

/** Returns the archive that the log names; null if there is none. */
export const findUploadedArchive = (state: RegistryModuleState, versionId: string): UploadedArchive | null =>
  state.status === 'active' ? (state.versions[versionId]?.archive ?? null) : null;

/** The document of a module lists all its versions. */
const MAX_VERSIONS = 1_000;
const MAX_COMMIT_SHA = 255;

/** Sources of modules in configurations have this form (the clients' addrs.ParseModuleSource). */
const NAME_RULE = {
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/,
  allowed: 'letters and numbers, and dashes and underscores between them',
  most: 64,
};
const PROVIDER_RULE = {
  attribute: 'provider',
  pattern: /^[a-z0-9]+$/,
  allowed: 'lowercase letters and numbers',
  most: 64,
};

const getNames = ({ name, provider }: ActiveModule): ModuleNames => ({ name, provider });

const describeVersion = (state: ActiveModule, versionId: string) => {
  const its = state.versions[versionId];
  if (!its) throw notFound('This version has been deleted');
  return { ...getNames(state), versionId, version: its.version, number: its.number };
};

/** Clients treat versions that differ only in build metadata as the same (semver §10). */
const checkNewVersion = (text: string, { versions }: ActiveModule): void => {
  checkProviderVersion(text);
  const others = Object.values(versions);
  const precedence = stripBuildMetadata(text);
  if (others.some(({ version: other }) => stripBuildMetadata(other) === precedence))
    throw unprocessable('Version has already been taken', 'version');
  if (others.length >= MAX_VERSIONS)
    throw unprocessable(
      `A module can have at most ${MAX_VERSIONS} versions. Delete versions that are not used`,
      'version',
    );
};

const checkCommitSha = (commitSha: string | null): void => {
  if (commitSha !== null && !/^[0-9A-Za-z._-]+$/.test(commitSha))
    throw unprocessable('Commit sha may only contain letters, numbers, dots, dashes and underscores', 'commit-sha');
  if ((commitSha?.length ?? 0) > MAX_COMMIT_SHA)
    throw unprocessable(`Commit sha is too long (at most ${MAX_COMMIT_SHA} characters)`, 'commit-sha');
};

const decideDeletion = (state: ActiveModule): RegistryModuleEvent => ({
  type: 'RegistryModuleDeleted',
  data: getNames(state),
});

export const registryModule: Decider<RegistryModuleState, RegistryModuleCommand, RegistryModuleEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateRegistryModule: (data, state) => {
      if (state.status !== 'absent') throw conflict('Registry module exists already');
      runAllChecks(
        () => checkName(data.name, NAME_RULE),
        () => checkName(data.provider, PROVIDER_RULE),
      );
      return [{ type: 'RegistryModuleCreated', data }];
    },
    UpdateRegistryModule: ({ noCode }, state) => {
      const active = requireActive(state);
      if (noCode === undefined || noCode === active.noCode) return [];
      return [{ type: 'RegistryModuleUpdated', data: { ...getNames(active), noCode } }];
    },
    CreateModuleVersion: ({ versionId, version: text, commitSha }, state) => {
      const active = requireActive(state);
      runAllChecks(
        () => checkNewVersion(text, active),
        () => checkCommitSha(commitSha),
      );
      const number = active.numbered + 1;
      const data = { ...getNames(active), versionId, version: text, number, commitSha };
      return [{ type: 'RegistryModuleVersionCreated', data }];
    },
    UploadModuleVersion: ({ versionId, ...file }, state) => {
      const active = requireActive(state);
      const data = { ...describeVersion(active, versionId), ...file };
      const uploaded = findUploadedArchive(active, versionId);
      // A client repeats an upload whose response was lost.
      if (uploaded?.sha256 === file.sha256) return [];
      if (uploaded)
        throw conflict('Another archive of this version has been uploaded already; a version never changes');
      return [{ type: 'RegistryModuleVersionUploaded', data }];
    },
    DeleteModuleVersion: ({ version: text }, state) => {
      const active = requireActive(state);
      const ids = Object.keys(active.versions);
      const versionId = ids.find((id) => active.versions[id]?.version === text);
      if (versionId === undefined) throw notFound();
      const event = { type: 'RegistryModuleVersionDeleted', data: describeVersion(active, versionId) } as const;
      return ids.length === 1 ? [event, decideDeletion(active)] : [event];
    },
    DeleteRegistryModule: (_, state) => [decideDeletion(requireActive(state))],
  },
  evolve: {
    RegistryModuleCreated: (data) => ({ status: 'active', ...data, numbered: 0, versions: {} }),
    RegistryModuleUpdated: ({ noCode }, state) => updateActive(state, () => ({ noCode })),
    RegistryModuleVersionCreated: ({ versionId, version: text, number }, state) =>
      updateActive(state, ({ versions }) => ({
        numbered: number,
        versions: { ...versions, [versionId]: { version: text, number, archive: null } },
      })),
    RegistryModuleVersionUploaded: ({ versionId, version: text, number, archive, sha256 }, state) =>
      updateActive(state, ({ versions }) => ({
        versions: { ...versions, [versionId]: { version: text, number, archive: { number: archive, sha256 } } },
      })),
    RegistryModuleVersionDeleted: ({ versionId }, state) =>
      updateActive(state, ({ versions: { [versionId]: _deleted, ...versions } }) => ({ versions })),
    RegistryModuleDeleted: () => ({ status: 'deleted' }),
  },
};

const updateActive = (
  state: RegistryModuleState,
  change: (state: ActiveModule) => Partial<ActiveModule>,
): RegistryModuleState => (state.status === 'active' ? { ...state, ...change(state) } : state);
