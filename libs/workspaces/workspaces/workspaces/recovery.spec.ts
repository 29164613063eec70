import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace, type WorkspaceEvent } from './workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const settings = { ...DEFAULT_SETTINGS, agentPoolId: 'apool-1' };
const created: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: {
    project: 'prj-1',
    name: 'one',
    settings,
    tags: [
      { key: 'env', value: 'prod' },
      { key: 'flat', value: null },
    ],
  },
};
const keyed: WorkspaceEvent = { type: 'WorkspaceSshKeyAssigned', data: { key: 'sshkey-1' } };
const locked: WorkspaceEvent = { type: 'WorkspaceLocked', data: { holder: alice, reason: '' } };
const version = (id: string, serial: number): WorkspaceEvent => ({
  type: 'StateVersionCreated',
  data: { id, serial, lineage: 'l', md5: 'a', createdBy: alice, run: null, rollbackOf: null },
});
const finalized = (id: string): WorkspaceEvent => ({
  type: 'StateVersionFinalized',
  data: {
    id,
    format: 4,
    lineage: 'l',
    size: 1,
    terraformVersion: null,
    resources: 2,
    providers: {},
    modules: {},
    outputs: [],
  },
});
const deletedUntil = (recoverableUntil: string | null): WorkspaceEvent => ({
  type: 'WorkspaceDeleted',
  data: { name: 'one', project: 'prj-1', forced: true, recoverableUntil },
});
const deleted = deletedUntil('2026-02-01T00:00:00.000Z');
const recovered = (name = 'one', project = 'prj-1'): WorkspaceEvent => ({
  type: 'WorkspaceRecovered',
  data: { name, project },
});
const purged = (expired: boolean): WorkspaceEvent => ({
  type: 'WorkspacePurged',
  data: { name: 'one', project: 'prj-1', expired },
});

const recover = (more: object = {}) =>
  ({
    type: 'RecoverWorkspace',
    data: { name: undefined, project: 'prj-1', isPoolUsable: true, hasSshKey: true, fixed: [], ...more },
  }) as const;
const purge = (expired: boolean) => ({ type: 'PurgeWorkspace', data: { expired } }) as const;

const fixed = [{ key: 'env', project: 'Default Project', reservedTagKey: 'rtk-1' }];

describe('a deleted workspace', () => {
  it('is recovered with the name that it had, or with another one', () => {
    given(created, deleted).when(recover()).yields(recovered());
    given(created, deleted)
      .when(recover({ name: 'two' }))
      .yields(recovered('two'));
    given(created, deleted)
      .when(recover({ name: 'a b' }))
      .refuses('unprocessable', 'Name');
  });

  it('is recovered once, unless it is deleted again', () => {
    given(created, deleted, recovered()).when(recover()).refuses('conflict', 'The workspace is not deleted');
    given(created, deleted, recovered(), deleted).when(recover()).yields(recovered());
  });

  it('is not recovered after a final deletion or its purge', () => {
    given(created, deletedUntil(null)).when(recover()).refuses('not-found', 'Not found');
    given(created, deleted, purged(true)).when(recover()).refuses('not-found', 'Not found');
    given().when(recover()).refuses('not-found', 'Not found');
  });

  it('follows its project if its agent pool is gone, and has no SSH key that is gone', () =>
    given(created, keyed, deleted)
      .when(recover({ isPoolUsable: false, hasSshKey: false }))
      .yields(
        recovered(),
        {
          type: 'WorkspaceUpdated',
          data: {
            changes: {
              agentPoolId: null,
              settingOverwrites: { ...settings.settingOverwrites, executionMode: false, agentPool: false },
            },
          },
        },
        { type: 'WorkspaceSshKeyUnassigned', data: { key: 'sshkey-1' } },
      ));

  it('keeps tags that its project fixes, and loses those that another project fixes', () => {
    given(created, deleted).when(recover({ fixed })).yields(recovered());
    given(created, deleted)
      .when(recover({ fixed, project: 'prj-default' }))
      .yields(recovered('one', 'prj-default'), { type: 'WorkspaceTagUnbound', data: { key: 'env', from: 'prod' } });
  });

  it('comes back unlocked, with its newest state, and without a version that waited for its file', () =>
    given(created, locked, version('sv-1', 1), finalized('sv-1'), version('sv-2', 2), deleted)
      .when(recover())
      .yields(
        recovered(),
        { type: 'StateVersionDiscarded', data: { id: 'sv-2' } },
        { type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 2 } },
      ));

  it('can be locked by somebody else after its recovery', () => {
    const bob = { type: 'users', id: 'user-bob', name: 'bob' } as const;
    given(created, locked, deleted, recovered())
      .when({
        type: 'LockWorkspace',
        data: { holder: bob, reason: '', expiresAt: null, lockedSince: null, isHolderHidden: false },
      })
      .yields({ type: 'WorkspaceLocked', data: { holder: bob, reason: '' } });
  });

  it('is purged once, by a person or by the job', () => {
    given(created, deleted).when(purge(false)).yields(purged(false));
    given(created, deleted).when(purge(true)).yields(purged(true));
    given(created, deleted, purged(true)).when(purge(false)).refuses('not-found', 'Not found');
    given(created, deleted, purged(false)).when(purge(true)).yields();
    given(created, deleted, recovered()).when(purge(true)).yields();
    given(created).when(purge(false)).refuses('conflict', 'The workspace is not deleted');
  });
});
