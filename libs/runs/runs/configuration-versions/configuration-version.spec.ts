import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide, fold, Refusal } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import {
  configurationVersion,
  type ConfigurationVersionState,
  type ConfigurationVersionCommand,
  type ConfigurationVersionEvent,
} from './configuration-version.js';

const { given } = specify(configurationVersion);

const creation = {
  workspace: 'ws-1',
  source: 'tfe-api',
  autoQueueRuns: true,
  speculative: false,
  provisional: false,
  createdBy: { type: 'users', id: 'user-alice', name: 'alice' },
  mayApply: true,
  ingress: null,
} as const;
const NOT_OURS = { error: 'invalid-archive', message: 'The upload is not a gzip archive' };

const created: ConfigurationVersionEvent = { type: 'ConfigurationVersionCreated', data: creation };
const uploaded: ConfigurationVersionEvent = { type: 'ConfigurationVersionUploaded', data: { size: 9, archive: 1 } };
const replaced: ConfigurationVersionEvent = { type: 'ConfigurationVersionReplaced', data: { size: 9, archive: 3 } };
const errored: ConfigurationVersionEvent = { type: 'ConfigurationVersionErrored', data: NOT_OURS };
const archived: ConfigurationVersionEvent = { type: 'ConfigurationVersionArchived', data: {} };
const softDeleted: ConfigurationVersionEvent = { type: 'ConfigurationVersionSoftDeleted', data: {} };
const restored: ConfigurationVersionEvent = { type: 'ConfigurationVersionRestored', data: {} };
const deleted: ConfigurationVersionEvent = { type: 'ConfigurationVersionPermanentlyDeleted', data: {} };

const create: ConfigurationVersionCommand = { type: 'CreateConfigurationVersion', data: creation };
const uploadOf = (archive: number, hasRuns = false): ConfigurationVersionCommand => ({
  type: 'UploadConfiguration',
  data: { size: 9, archive, hasRuns },
});
const upload = uploadOf(1);
const fail: ConfigurationVersionCommand = { type: 'FailConfiguration', data: NOT_OURS };
const archive = (facts = {}): ConfigurationVersionCommand => ({
  type: 'ArchiveConfiguration',
  data: { isInUse: false, isCurrent: false, ...facts },
});
const softDelete = (facts = {}): ConfigurationVersionCommand => ({
  type: 'SoftDeleteConfiguration',
  data: { isInUse: false, isCurrent: false, ...facts },
});
const restore: ConfigurationVersionCommand = { type: 'RestoreConfiguration', data: {} };
const deletePermanently: ConfigurationVersionCommand = { type: 'DeleteConfigurationPermanently', data: {} };

describe('a configuration version', () => {
  it('is created once, for its workspace', () => {
    given().when(create).yields(created);
    given(created)
      .when(create)
      .refuses('conflict', /exists already/);
  });

  it('must exist for every other command', () => {
    for (const command of [upload, fail, archive(), softDelete(), restore, deletePermanently]) {
      given().when(command).refuses('not-found', '');
    }
  });

  it('records one upload if the client repeats it after a run started', () => {
    given(created).when(upload).yields(uploaded);
    given(created, uploaded).when(upload).yields();
    given(created, uploaded).when(uploadOf(1, true)).yields();
  });

  it('replaces its archive by a later one unless a run uses it', () => {
    given(created, uploaded).when(uploadOf(3)).yields(replaced);
    given(created, uploaded)
      .when(uploadOf(3, true))
      .refuses('conflict', /A run uses the archive/);
    given(created, uploaded, replaced).when(uploadOf(3)).yields();
    given(created, uploaded, replaced)
      .when(uploadOf(2))
      .refuses('conflict', /at the same time/);
    given(created, uploaded, softDeleted, restored).when(upload).yields();
  });

  it('is errored for good after an upload that is not an archive', () => {
    given(created).when(fail).yields(errored);
    given(created, errored)
      .when(upload)
      .refuses('conflict', /is errored/);
    given(created, errored)
      .when(fail)
      .refuses('conflict', /is errored/);
    given(created, uploaded)
      .when(fail)
      .refuses('conflict', /is uploaded/);
  });

  it.each([
    ['archived', [archived]],
    ['backing_data_soft_deleted', [softDeleted]],
    ['backing_data_permanently_deleted', [softDeleted, deleted]],
  ])('refuses an upload while it is %s', (status, events) => {
    given(created, uploaded, ...events)
      .when(upload)
      .refuses('conflict', status);
  });
});

describe('archiving a configuration version', () => {
  it('requires a stored archive that no run needs', () => {
    given(created, uploaded).when(archive()).yields(archived);
    given(created, uploaded)
      .when(archive({ isInUse: true }))
      .refuses('conflict', /run in progress/);
    given(created, uploaded)
      .when(archive({ isCurrent: true }))
      .refuses('conflict', 'transition not allowed: configuration could not be archived because it is current');
    given(created)
      .when(archive())
      .refuses('conflict', /is pending/);
    given(created, errored)
      .when(archive())
      .refuses('conflict', /is errored/);
    given(created, uploaded, archived)
      .when(archive())
      .refuses('conflict', /is archived/);
    given(created, uploaded, softDeleted)
      .when(archive())
      .refuses('conflict', /soft_deleted/);
  });
});

describe('deleting the archive of a configuration version', () => {
  it('is soft at first, and refused if the version is current or a run needs it', () => {
    given(created, uploaded).when(softDelete()).yields(softDeleted);
    given(created, uploaded)
      .when(softDelete({ isCurrent: true }))
      .refuses('bad-request', /current/);
    given(created, uploaded)
      .when(softDelete({ isInUse: true }))
      .refuses('bad-request', /run in progress/);
    given(created)
      .when(softDelete())
      .refuses('bad-request', /is pending/);
    given(created, uploaded, archived)
      .when(softDelete())
      .refuses('bad-request', /is archived/);
  });

  it('is undone while it is soft', () => {
    given(created, uploaded, softDeleted).when(restore).yields(restored);
    given(created, uploaded, softDeleted, restored).when(softDelete()).yields(softDeleted);
    given(created, uploaded).when(restore).yields();
    given(created, uploaded, softDeleted, deleted)
      .when(restore)
      .refuses('bad-request', /permanently_deleted cannot be restored: transition not allowed/);
    given(created, uploaded, archived)
      .when(restore)
      .refuses('bad-request', /is archived/);
  });

  it('is permanent after that', () => {
    given(created, uploaded, softDeleted).when(deletePermanently).yields(deleted);
    given(created, uploaded)
      .when(deletePermanently)
      .refuses('bad-request', /soft deleted/);
    given(created, uploaded, softDeleted, deleted)
      .when(deletePermanently)
      .refuses('bad-request', /soft deleted/);
  });
});

describe('any sequence of commands', () => {
  const facts = fc.record({ isInUse: fc.boolean(), isCurrent: fc.boolean() });
  const anything: fc.Arbitrary<ConfigurationVersionCommand> = fc.oneof(
    fc.constantFrom(create, upload, uploadOf(2), uploadOf(3, true), fail, restore, deletePermanently),
    facts.map(archive),
    facts.map(softDelete),
  );

  const attempt = (
    state: ConfigurationVersionState,
    command: ConfigurationVersionCommand,
  ): ConfigurationVersionState => {
    try {
      return fold(configurationVersion, state, decide(configurationVersion, command, state));
    } catch (error) {
      if (error instanceof Refusal) return state;
      throw error;
    }
  };

  /** Returns the statuses that the commands lead through, each once in a row. */
  const listStatuses = (commands: readonly ConfigurationVersionCommand[]): string[] => {
    const statuses = ['absent'];
    let state = configurationVersion.initial;
    for (const command of commands) {
      state = attempt(state, command);
      if (state.status !== statuses.at(-1)) statuses.push(state.status);
    }
    return statuses;
  };

  it('follows the transitions of the drawing and no others', () => {
    const steps = [
      'absent pending',
      'pending uploaded',
      'pending errored',
      'uploaded archived',
      'uploaded backing_data_soft_deleted',
      'backing_data_soft_deleted uploaded',
      'backing_data_soft_deleted backing_data_permanently_deleted',
    ];
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (commands) => {
        const statuses = listStatuses(commands);
        const transitions = statuses.slice(1).map((status, step) => `${statuses[step]} ${status}`);
        expect(steps).toEqual(expect.arrayContaining(transitions));
      }),
    );
  });
});
