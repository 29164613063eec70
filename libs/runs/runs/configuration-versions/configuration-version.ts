import { z } from 'zod';
import {
  badRequest,
  conflict,
  defineEvents,
  describePersonalName,
  notFound,
  type Decider,
  type EventsOf,
  type Message,
  type Principal,
  type Refusal,
} from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';
import { addConfiguration } from './configuration-history.js';

export const CONFIGURATION_STATUSES = [
  'pending',
  'uploaded',
  'errored',
  'archived',
  'backing_data_soft_deleted',
  'backing_data_permanently_deleted',
] as const;
export type ConfigurationStatus = (typeof CONFIGURATION_STATUSES)[number];

/** Where configuration versions come from: an upload, or a kind of Git host. */
export const CONFIGURATION_SOURCES = ['tfe-api', 'github', 'gitlab', 'gitea', 'forgejo'] as const;
export type ConfigurationSource = (typeof CONFIGURATION_SOURCES)[number];

const ingress = z.strictObject({
  identifier: z.string(),
  /** Null for a tag. */
  branch: z.string().nullable(),
  tag: z.string().nullable(),
  onDefaultBranch: z.boolean(),
  commitSha: z.string(),
  commitMessage: z.string(),
  commitUrl: z.string(),
  cloneUrl: z.string(),
  /** The account that pushed the commit, or that opened the pull request; null if the Git host does not say it. */
  senderUsername: z.string().nullable(),
  /** Null for a commit of a branch or tag. */
  pullRequest: z.strictObject({ number: z.int(), title: z.string(), url: z.string() }).nullable(),
  oauthToken: z.string(),
});

/** The commit that a configuration version is made of. */
export type Ingress = z.infer<typeof ingress>;

type ConfigurationVersionCreation = {
  workspace: string;
  source: ConfigurationSource;
  /** Whether a run starts when the archive is uploaded. */
  autoQueueRuns: boolean;
  /** Whether the version is used for plans only. */
  speculative: boolean;
  /** Whether the version stays out of the choice of the workspace's current version. */
  provisional: boolean;
  createdBy: Principal;
  /** Whether the creator may apply runs; only then is the run of an upload applied automatically. */
  mayApply: boolean;
  /** Null for an upload. */
  ingress: Ingress | null;
};

type EmptyData = Record<never, never>;

/** `archive`: the number of the file (configuration-version.files.ts); `size`: its bytes. */
type StoredArchive = { size: number; archive: number };

const defineAuditedEvent = (action: string) => ({
  schema: z.strictObject({}),
  audit: { action },
  live: 'changed' as const,
});

const archive = z.strictObject({ size: z.int(), archive: z.int() });

export const configurationVersionEvents = defineEvents(
  {
    topic: 'runs',
    stream: 'cv',
    audited: 'configuration_version',
    live: inWorkspace('configuration-versions', 'read-configuration-version'),
  },
  {
    ConfigurationVersionCreated: {
      schemaVersion: 2,
      upcast: { 1: [{ add: { ingress: null } }] },
      schema: z.strictObject({
        workspace: z.string(),
        source: z.enum(CONFIGURATION_SOURCES),
        autoQueueRuns: z.boolean(),
        speculative: z.boolean(),
        provisional: z.boolean(),
        createdBy: z.strictObject({ type: z.string(), id: z.string(), name: z.string() }),
        mayApply: z.boolean(),
        ingress: ingress.nullable(),
      }),
      audit: {
        action: 'create',
        meta: ({ workspace, speculative, provisional }) => ({ workspace_id: workspace, speculative, provisional }),
      },
      live: inWorkspace('configuration-versions', 'read-configuration-version', { field: 'workspace' })('created'),
      history: addConfiguration,
      ids: { refersTo: { workspace: ['ws'], 'ingress.oauthToken': ['ot'] } },
      personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
    },
    ConfigurationVersionUploaded: {
      schemaVersion: 2,
      upcast: { 1: [{ add: { archive: 1 } }] },
      schema: archive,
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: 'changed',
    },
    ConfigurationVersionReplaced: {
      schema: archive,
      audit: { action: 'replace_archive', meta: ({ size }) => ({ size }) },
      live: 'changed',
    },
    ConfigurationVersionErrored: {
      schema: z.strictObject({ error: z.string(), message: z.string() }),
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: 'changed',
    },
    ConfigurationVersionArchived: defineAuditedEvent('archive'),
    ConfigurationVersionSoftDeleted: defineAuditedEvent('soft_delete_backing_data'),
    ConfigurationVersionRestored: defineAuditedEvent('restore_backing_data'),
    ConfigurationVersionPermanentlyDeleted: defineAuditedEvent('permanently_delete_backing_data'),
  },
);

export type ConfigurationVersionEvent = EventsOf<typeof configurationVersionEvents>;

export type ConfigurationVersionCommand =
  | Message<'CreateConfigurationVersion', ConfigurationVersionCreation>
  | Message<'UploadConfiguration', StoredArchive & { hasRuns: boolean }>
  | Message<'FailConfiguration', { error: string; message: string }>
  /**
   * `hasRuns`: any run used the version; `isInUse`: an unfinished run uses it; `isCurrent`: it is the current version
   * of its workspace.
   */
  | Message<'ArchiveConfiguration', { isInUse: boolean; isCurrent: boolean }>
  | Message<'SoftDeleteConfiguration', { isInUse: boolean; isCurrent: boolean }>
  | Message<'RestoreConfiguration', EmptyData>
  | Message<'DeleteConfigurationPermanently', EmptyData>;

/** `archive`: number of the latest uploaded archive, which new runs use; 0 before the first upload. */
export type ConfigurationVersionState = { readonly status: 'absent' | ConfigurationStatus; readonly archive: number };

const requireExisting = ({ status }: ConfigurationVersionState): ConfigurationStatus => {
  if (status === 'absent') throw notFound();
  return status;
};

export const createConcurrentArchiveRefusal = (): Refusal =>
  conflict('Another archive of this configuration version was uploaded at the same time. Upload yours again');

export const createArchiveInUseRefusal = (): Refusal =>
  conflict(
    'A run uses the archive of this configuration version, so another cannot replace it. Create a configuration version for it',
  );

/** The vendor returns 409 if a version cannot be archived, and 400 if it cannot be deleted or restored. */
export const configurationVersion: Decider<
  ConfigurationVersionState,
  ConfigurationVersionCommand,
  ConfigurationVersionEvent
> = {
  version: 2,
  initial: { status: 'absent', archive: 0 },
  decide: {
    CreateConfigurationVersion: (creation, { status }) => {
      if (status !== 'absent') throw conflict('Configuration version exists already');
      return [{ type: 'ConfigurationVersionCreated', data: creation }];
    },
    UploadConfiguration: ({ size, archive, hasRuns }, state) => {
      const status = requireExisting(state);
      if (status === 'pending') return [{ type: 'ConfigurationVersionUploaded', data: { size, archive } }];
      if (status !== 'uploaded') throw conflict(`Nothing can be uploaded to a configuration version that is ${status}`);
      // Equal content has the same number: a client repeated its upload, or two clients sent it at the same time.
      if (archive === state.archive) return [];
      // Files with lower numbers are being deleted.
      if (archive < state.archive) {
        throw createConcurrentArchiveRefusal();
      }
      if (hasRuns) throw createArchiveInUseRefusal();
      return [{ type: 'ConfigurationVersionReplaced', data: { size, archive } }];
    },
    FailConfiguration: ({ error, message }, state) => {
      const status = requireExisting(state);
      if (status !== 'pending') throw conflict(`Nothing can be uploaded to a configuration version that is ${status}`);
      return [{ type: 'ConfigurationVersionErrored', data: { error, message } }];
    },
    ArchiveConfiguration: ({ isInUse, isCurrent }, state) => {
      const status = requireExisting(state);
      if (status !== 'uploaded') throw conflict(`Configuration version is ${status} and cannot be archived`);
      if (isCurrent) {
        throw conflict('transition not allowed: configuration could not be archived because it is current');
      }
      if (isInUse) throw conflict('Configuration version has a run in progress and cannot be archived');
      return [{ type: 'ConfigurationVersionArchived', data: {} }];
    },
    SoftDeleteConfiguration: ({ isInUse, isCurrent }, state) => {
      const status = requireExisting(state);
      if (status !== 'uploaded')
        throw badRequest(`The data of a configuration version that is ${status} cannot be deleted`);
      if (isInUse) throw badRequest('The data of a configuration version with a run in progress cannot be deleted');
      if (isCurrent) throw badRequest('The data of the current configuration version cannot be deleted');
      return [{ type: 'ConfigurationVersionSoftDeleted', data: {} }];
    },
    RestoreConfiguration: (_, state) => {
      const status = requireExisting(state);
      if (status === 'uploaded') return [];
      if (status === 'backing_data_soft_deleted') return [{ type: 'ConfigurationVersionRestored', data: {} }];
      throw badRequest(
        `The data of a configuration version that is ${status} cannot be restored: transition not allowed`,
      );
    },
    DeleteConfigurationPermanently: (_, state) => {
      if (requireExisting(state) !== 'backing_data_soft_deleted') {
        throw badRequest('Only data that is soft deleted can be deleted permanently');
      }
      return [{ type: 'ConfigurationVersionPermanentlyDeleted', data: {} }];
    },
  },
  evolve: {
    ConfigurationVersionCreated: () => ({ status: 'pending', archive: 0 }),
    ConfigurationVersionUploaded: ({ archive }) => ({ status: 'uploaded', archive }),
    ConfigurationVersionReplaced: ({ archive }) => ({ status: 'uploaded', archive }),
    ConfigurationVersionErrored: (_, { archive }) => ({ status: 'errored', archive }),
    ConfigurationVersionArchived: (_, { archive }) => ({ status: 'archived', archive }),
    ConfigurationVersionSoftDeleted: (_, { archive }) => ({ status: 'backing_data_soft_deleted', archive }),
    ConfigurationVersionRestored: (_, { archive }) => ({ status: 'uploaded', archive }),
    ConfigurationVersionPermanentlyDeleted: (_, { archive }) => ({
      status: 'backing_data_permanently_deleted',
      archive,
    }),
  },
};
