import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace, type WorkspaceEvent } from './workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const born: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: {
    project: 'prj-1',
    name: 'one',
    settings: DEFAULT_SETTINGS,
    tags: [
      { key: 'flat', value: null },
      { key: 'env', value: 'prod' },
    ],
  },
};
const create = (name: string, settings = {}) =>
  ({ type: 'CreateWorkspace', data: { project: 'prj-1', name, settings, names: [], bindings: [] } }) as const;
const update = (changes: object, more: object = {}) =>
  ({ type: 'UpdateWorkspace', data: { changes, ...more } }) as const;
const remove = (forced: boolean) => ({ type: 'DeleteWorkspace', data: { forced } }) as const;
const locked: WorkspaceEvent = { type: 'WorkspaceLocked', data: { holder: alice, reason: '' } };
const uploading: WorkspaceEvent = {
  type: 'StateVersionCreated',
  data: { id: 'sv-1', serial: 1, lineage: null, md5: 'a', createdBy: alice, run: null, rollbackOf: null },
};
const managing: WorkspaceEvent = { type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 2 } };
const gone: WorkspaceEvent = { type: 'WorkspaceDeleted', data: { name: 'one', project: 'prj-1', forced: false } };

describe('a workspace', () => {
  it('is born with the defaults where the request says nothing', () =>
    given()
      .when(create('one', { autoApply: true }))
      .yields({
        type: 'WorkspaceCreated',
        data: { project: 'prj-1', name: 'one', settings: { ...DEFAULT_SETTINGS, autoApply: true }, tags: [] },
      }));

  it.each(['with space', 'dotted.name', 'ünïcode', 'a/b'])('refuses the name %s', (name) =>
    given().when(create(name)).refuses('unprocessable', 'Name may only contain'),
  );

  it('refuses an empty name', () => given().when(create('')).refuses('unprocessable', "Name can't be blank"));

  it('wants an agent pool for the agent mode', () =>
    given()
      .when(create('one', { executionMode: 'agent' }))
      .refuses('unprocessable', "must be specified when using 'agent' execution mode"));

  it('wants no agent pool for other modes', () =>
    given()
      .when(create('one', { agentPoolId: 'apool-1' }))
      .refuses('unprocessable', "must not be specified unless using 'agent' execution mode"));

  it.each(['14', '0d', '12345d', '3w'])('refuses the auto-destroy duration %s', (autoDestroyActivityDuration) =>
    given().when(create('one', { autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format'),
  );

  it('shares its state with the organization or with the project, not both', () =>
    given(born)
      .when(update({ globalRemoteState: true, projectRemoteState: true }))
      .refuses('unprocessable', 'Project remote state cannot be enabled'));

  it('tells only what an update changes', () =>
    given(born)
      .when(update({ autoApply: true, description: null, name: 'one' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { autoApply: true } } }));

  it('says nothing when an update changes nothing', () =>
    given(born)
      .when(update({ autoApply: false }, { project: 'prj-1' }))
      .yields());

  it('moves to another project', () =>
    given(born)
      .when(update({}, { project: 'prj-2' }))
      .yields({ type: 'WorkspaceMoved', data: { from: 'prj-1', to: 'prj-2' } }));

  const agent = { executionMode: 'agent', agentPoolId: 'apool-1' } as const;
  const own = { settingOverwrites: { executionMode: true, agentPool: true } };
  const withAgent: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { ...agent, ...own } } };

  it('keeps overwriting the mode when only the pool is to follow the project', () =>
    given(born, withAgent)
      .when(update({ settingOverwrites: { agentPool: false } }))
      .yields({
        type: 'WorkspaceUpdated',
        data: { changes: { settingOverwrites: { executionMode: true, agentPool: false } } },
      }));

  it('does not lose its pool while the mode is agent', () => {
    given(born, withAgent)
      .when(update({ agentPoolId: null }))
      .refuses('unprocessable', "must be specified when using 'agent' execution mode");
    given(born, withAgent)
      .when(update({ agentPoolId: null, executionMode: 'remote' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, executionMode: 'remote' } } });
  });

  it('leaves its pool with the agent mode, and when it follows the default again', () => {
    given(born, withAgent)
      .when(update({ executionMode: 'local' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, executionMode: 'local' } } });
    const follow = { settingOverwrites: { executionMode: false, agentPool: false } };
    given(born, withAgent)
      .when(update(follow))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, ...follow } } });
    const modeOnly = { settingOverwrites: { executionMode: false } };
    given(born, withAgent)
      .when(update(modeOnly))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, ...follow } } });
  });

  it('may lose its pool together with a mode of its own', () => {
    const changes = { agentPoolId: null, settingOverwrites: { executionMode: false, agentPool: false } };
    given(born, withAgent).when(update(changes)).yields({ type: 'WorkspaceUpdated', data: { changes } });
  });

  const repo = {
    identifier: 'acme/net',
    oauthTokenId: 'ot-1',
    vcsAppInstallationId: null,
    branch: '',
    ingressSubmodules: true,
    tagsRegex: null,
  };
  const withRepo: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { vcsRepo: repo } } };

  it('changes of its repository only what is named', () =>
    given(born, withRepo)
      .when(update({ vcsRepo: { branch: 'main' } }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { vcsRepo: { ...repo, branch: 'main' } } } }));

  it('takes an app installation instead of the OAuth token', () =>
    given(born, withRepo)
      .when(update({ vcsRepo: { vcsAppInstallationId: 'ghain-1' } }))
      .yields({
        type: 'WorkspaceUpdated',
        data: { changes: { vcsRepo: { ...repo, oauthTokenId: null, vcsAppInstallationId: 'ghain-1' } } },
      }));

  it('loses its repository by null, and never half of what it needs', () => {
    given(born, withRepo)
      .when(update({ vcsRepo: null }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { vcsRepo: null } } });
    given(born, withRepo)
      .when(update({ vcsRepo: { oauthTokenId: null } }))
      .refuses('unprocessable', "OAuth token can't be blank");
  });

  it('wants identifier and credential of its first repository', () => {
    given(born)
      .when(update({ vcsRepo: { branch: 'main' } }))
      .refuses('unprocessable', "Identifier can't be blank");
    given()
      .when(create('one', { vcsRepo: { identifier: 'acme/net' } }))
      .refuses('unprocessable', "OAuth token can't be blank");
  });

  it('is not safely deleted while it is locked', () =>
    given(born, locked).when(remove(false)).refuses('conflict', 'locked'));

  it('is not safely deleted while its state is being processed', () =>
    given(born, uploading).when(remove(false)).refuses('conflict', 'being processed'));

  it('is not safely deleted while it manages resources, and says neither of the other words', () =>
    given(born, managing)
      .when(remove(false))
      .refuses('conflict', /^(?!.*locked)(?!.*being processed).*2 resources/));

  it('is given an SSH key, another one, and none again; the same changes nothing', () => {
    const assign = (key: string | null) => ({ type: 'AssignSshKey', data: { key } }) as const;
    const assigned = (key: string): WorkspaceEvent => ({ type: 'WorkspaceSshKeyAssigned', data: { key } });
    const unassigned: WorkspaceEvent = { type: 'WorkspaceSshKeyUnassigned', data: { key: 'sshkey-2' } };
    given(born).when(assign('sshkey-1')).yields(assigned('sshkey-1'));
    given(born, assigned('sshkey-1')).when(assign('sshkey-1')).yields();
    given(born, assigned('sshkey-1')).when(assign('sshkey-2')).yields(assigned('sshkey-2'));
    given(born, assigned('sshkey-1'), assigned('sshkey-2')).when(assign(null)).yields(unassigned);
    given(born, assigned('sshkey-2'), unassigned).when(assign(null)).yields();
    given(born, gone).when(assign(null)).refuses('not-found', 'Not found');
  });

  it('is deleted by force whatever it holds', () =>
    given(born, locked, managing)
      .when(remove(true))
      .yields({ type: 'WorkspaceDeleted', data: { name: 'one', project: 'prj-1', forced: true } }));

  it('is gone for good', () =>
    given(born, gone)
      .when(update({ autoApply: true }))
      .refuses('not-found', 'Not found'));
});
