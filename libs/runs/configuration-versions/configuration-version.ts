import { badRequest, conflict, notFound, type Decider, type Message, type Refusal, type Principal } from '#kernel';

/**
 * A configuration that is uploaded for runs: one archive, which comes by a signed link after the version was made. Until
 * a run is made with it, another archive can replace it.
 *
 *   absent ──create──► pending ──upload──► uploaded ──archive──► archived
 *                         │                  │    ▲
 *                         └──fail──► errored │    └──restore──┐
 *                                            └──soft-delete──► backing_data_soft_deleted
 *                                                                 └──delete-permanently──► backing_data_permanently_deleted
 *
 * What is archived, errored or deleted for good stays so: for another archive there is another version.
 */
export type ConfigurationStatus =
  'pending' | 'uploaded' | 'errored' | 'archived' | 'backing_data_soft_deleted' | 'backing_data_permanently_deleted';

type ConfigurationVersionCreation = {
  workspace: string;
  source: 'tfe-api';
  /** Whether a run is to begin when the archive is here. */
  autoQueueRuns: boolean;
  /** Only for plans. */
  speculative: boolean;
  /** Does not become the workspace's current one by its creation. */
  provisional: boolean;
  createdBy: Principal;
  /** Whether they may apply runs: what begins by the upload is applied unasked only then. */
  mayApply: boolean;
};

type EmptyData = Record<never, never>;

/** `archive`: the number of the file (configuration-version.files.ts); `size`: its bytes. */
type StoredArchive = { size: number; archive: number };

export type ConfigurationVersionEvent =
  | Message<'ConfigurationVersionCreated', ConfigurationVersionCreation>
  | Message<'ConfigurationVersionUploaded', StoredArchive>
  | Message<'ConfigurationVersionReplaced', StoredArchive>
  | Message<'ConfigurationVersionErrored', { error: string; message: string }>
  | Message<'ConfigurationVersionArchived', EmptyData>
  | Message<'ConfigurationVersionSoftDeleted', EmptyData>
  | Message<'ConfigurationVersionRestored', EmptyData>
  | Message<'ConfigurationVersionPermanentlyDeleted', EmptyData>;

export type ConfigurationVersionCommand =
  | Message<'CreateConfigurationVersion', ConfigurationVersionCreation>
  | Message<'UploadConfiguration', StoredArchive & { hasRuns: boolean }>
  | Message<'FailConfiguration', { error: string; message: string }>
  /** `hasRuns`: a run was made with the version, whether it is over or not; `isInUse`: a run with it is not over; `isCurrent`: of its workspace. */
  | Message<'ArchiveConfiguration', { isInUse: boolean; isCurrent: boolean }>
  | Message<'SoftDeleteConfiguration', { isInUse: boolean; isCurrent: boolean }>
  | Message<'RestoreConfiguration', EmptyData>
  | Message<'DeleteConfigurationPermanently', EmptyData>;

/** `archive`: the number of the archive that runs get; 0 until there is one. */
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

/** The vendor answers what cannot be archived with a 409, and what cannot be deleted or restored with a 400. */
export const configurationVersion: Decider<
  ConfigurationVersionState,
  ConfigurationVersionCommand,
  ConfigurationVersionEvent
> = {
  version: 2,
  initial: { status: 'absent', archive: 0 },
  decide: {
    CreateConfigurationVersion: (birth, { status }) => {
      if (status !== 'absent') throw conflict('Configuration version exists already');
      const { workspace, source, autoQueueRuns, speculative, provisional, createdBy, mayApply } = birth;
      const data = { workspace, source, autoQueueRuns, speculative, provisional, createdBy, mayApply };
      return [{ type: 'ConfigurationVersionCreated', data }];
    },
    UploadConfiguration: ({ size, archive, hasRuns }, state) => {
      const status = requireExisting(state);
      if (status === 'pending') return [{ type: 'ConfigurationVersionUploaded', data: { size, archive } }];
      if (status !== 'uploaded') throw conflict(`Nothing can be uploaded to a configuration version that is ${status}`);
      // Equal content has the same number: a client repeated its upload, or two of them uploaded it at once.
      if (archive === state.archive) return [];
      // Lower numbers are being deleted.
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
      // Clients look for both parts of this text (clients.md §8).
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
      // Clients look for `transition not allowed` (clients.md §8).
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
