import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import type { ConsumerCommand } from './remote-state-consumers.js';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const created: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: { project: 'prj-1', name: 'one', settings: DEFAULT_SETTINGS, tags: [] },
};
const shared: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { globalRemoteState: true } } };
const sharedInProject: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { projectRemoteState: true } } };
const deleted: WorkspaceEvent = {
  type: 'WorkspaceDeleted',
  data: { name: 'one', project: 'prj-1', forced: false, recoverableUntil: null },
};

const added = (...workspaces: readonly string[]): WorkspaceEvent => ({
  type: 'RemoteStateConsumersAdded',
  data: { workspaces },
});
const removed = (...workspaces: readonly string[]): WorkspaceEvent => ({
  type: 'RemoteStateConsumersRemoved',
  data: { workspaces },
});

type Lists = ConsumerCommand['data'];
const add = (data: Lists) => ({ type: 'AddRemoteStateConsumers', data }) as const;
const remove = (data: Lists) => ({ type: 'RemoveRemoteStateConsumers', data }) as const;
const replace = (data: Lists) => ({ type: 'ReplaceRemoteStateConsumers', data }) as const;

describe('the consumers of a workspace’s state', () => {
  it('are added unless they are present', () =>
    given(created)
      .when(add({ workspaces: ['ws-2', 'ws-3', 'ws-4'], present: ['ws-3'] }))
      .yields(added('ws-2', 'ws-4')));

  it('are removed if they are present', () =>
    given(created)
      .when(remove({ workspaces: ['ws-2', 'ws-3'], present: ['ws-3'] }))
      .yields(removed('ws-3')));

  it('are replaced by the difference', () =>
    given(created)
      .when(replace({ workspaces: ['ws-3', 'ws-4'], present: ['ws-2', 'ws-3'] }))
      .yields(removed('ws-2'), added('ws-4')));

  it('are all removed if the new list is empty', () =>
    given(created)
      .when(replace({ workspaces: [], present: ['ws-2', 'ws-3'] }))
      .yields(removed('ws-2', 'ws-3')));

  it.each([
    ['adding those that are there', add({ workspaces: ['ws-2'], present: ['ws-2'] })],
    ['removing those that are not', remove({ workspaces: ['ws-2'], present: [] })],
    ['replacing them by themselves', replace({ workspaces: ['ws-3', 'ws-2'], present: ['ws-2', 'ws-3'] })],
  ])('do not change by %s', (_, command) => given(created).when(command).yields());

  it.each([add, remove, replace])('cannot be changed while the whole organization may read the state', (command) =>
    given(created, shared)
      .when(command({ workspaces: ['ws-2'], present: [] }))
      .refuses('unprocessable', 'global remote state sharing is enabled'),
  );

  it('can be changed while the whole project may read the state', () =>
    given(created, sharedInProject)
      .when(add({ workspaces: ['ws-2'], present: [] }))
      .yields(added('ws-2')));

  it.each([{ globalRemoteState: true }, { projectRemoteState: true }])('are all removed when %j is set', (changes) =>
    given(created)
      .when({ type: 'UpdateWorkspace', data: { changes, consumers: ['ws-2', 'ws-3'] } })
      .yields({ type: 'WorkspaceUpdated', data: { changes } }, removed('ws-2', 'ws-3')),
  );

  it('stay if the present sharing is set again', () =>
    given(created, sharedInProject)
      .when({ type: 'UpdateWorkspace', data: { changes: { projectRemoteState: true }, consumers: ['ws-2'] } })
      .yields());

  it('require an existing workspace', () =>
    given(created, deleted)
      .when(add({ workspaces: ['ws-2'], present: [] }))
      .refuses('not-found', ''));

  it('are not in the decider’s state, which every lock would write again', () =>
    expect(given(created, added('ws-2'), removed('ws-2'), added('ws-3')).state).toEqual(given(created).state));
});
