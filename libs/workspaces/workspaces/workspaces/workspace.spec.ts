import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace, type WorkspaceEvent } from './workspace.js';

const { given } = specify(workspace);

const alice = { type: 'users', id: 'user-alice', name: 'alice' } as const;
const created: WorkspaceEvent = {
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
const UNTIL = '2026-02-01T00:00:00.000Z';
const remove = (forced: boolean) => ({ type: 'DeleteWorkspace', data: { forced, recoverableUntil: UNTIL } }) as const;
const locked: WorkspaceEvent = { type: 'WorkspaceLocked', data: { holder: alice, reason: '' } };
const uploading: WorkspaceEvent = {
  type: 'StateVersionCreated',
  data: { id: 'sv-1', serial: 1, lineage: null, md5: 'a', createdBy: alice, run: null, rollbackOf: null },
};
const managing: WorkspaceEvent = { type: 'StateVersionPromoted', data: { id: 'sv-1', resources: 2 } };
const deleted: WorkspaceEvent = {
  type: 'WorkspaceDeleted',
  data: { name: 'one', project: 'prj-1', forced: false, recoverableUntil: UNTIL },
};

describe('a workspace', () => {
  it('is created with the defaults for settings that the request omits', () =>
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

  it('requires an agent pool in agent mode', () =>
    given()
      .when(create('one', { executionMode: 'agent' }))
      .refuses('unprocessable', "must be specified when using 'agent' execution mode"));

  it('refuses an agent pool in other modes', () =>
    given()
      .when(create('one', { agentPoolId: 'apool-1' }))
      .refuses('unprocessable', "must not be specified unless using 'agent' execution mode"));

  it.each(['14', '0d', '12345d', '3w'])('refuses the auto-destroy duration %s', (autoDestroyActivityDuration) =>
    given().when(create('one', { autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format'),
  );

  it('shares its state with the organization or with the project, not with both', () =>
    given(created)
      .when(update({ globalRemoteState: true, projectRemoteState: true }))
      .refuses('unprocessable', 'Project remote state cannot be enabled'));

  it('records only what an update changes', () =>
    given(created)
      .when(update({ autoApply: true, description: null, name: 'one' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { autoApply: true } } }));

  it('appends no event if an update changes nothing', () =>
    given(created)
      .when(update({ autoApply: false }, { project: 'prj-1' }))
      .yields());

  it('moves to another project', () =>
    given(created)
      .when(update({}, { project: 'prj-2' }))
      .yields({ type: 'WorkspaceMoved', data: { from: 'prj-1', to: 'prj-2' } }));

  const agent = { executionMode: 'agent', agentPoolId: 'apool-1' } as const;
  const own = { settingOverwrites: { executionMode: true, agentPool: true } };
  const withAgent: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { ...agent, ...own } } };

  it('keeps its own mode if only the pool is to follow the project', () =>
    given(created, withAgent)
      .when(update({ settingOverwrites: { agentPool: false } }))
      .yields({
        type: 'WorkspaceUpdated',
        data: { changes: { settingOverwrites: { executionMode: true, agentPool: false } } },
      }));

  it('does not lose its pool in agent mode', () => {
    given(created, withAgent)
      .when(update({ agentPoolId: null }))
      .refuses('unprocessable', "must be specified when using 'agent' execution mode");
    given(created, withAgent)
      .when(update({ agentPoolId: null, executionMode: 'remote' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, executionMode: 'remote' } } });
  });

  it('loses its pool with the agent mode, and when it follows the default again', () => {
    given(created, withAgent)
      .when(update({ executionMode: 'local' }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, executionMode: 'local' } } });
    const follow = { settingOverwrites: { executionMode: false, agentPool: false } };
    given(created, withAgent)
      .when(update(follow))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, ...follow } } });
    const modeOnly = { settingOverwrites: { executionMode: false } };
    given(created, withAgent)
      .when(update(modeOnly))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { agentPoolId: null, ...follow } } });
  });

  it('may lose its pool together with its own mode', () => {
    const changes = { agentPoolId: null, settingOverwrites: { executionMode: false, agentPool: false } };
    given(created, withAgent).when(update(changes)).yields({ type: 'WorkspaceUpdated', data: { changes } });
  });

  const repo = {
    identifier: 'acme/net',
    oauthTokenId: 'ot-1',
    vcsAppInstallationId: null,
    branch: '',
    ingressSubmodules: true,
    tagsRegex: null,
  };
  const connected: WorkspaceEvent = { type: 'WorkspaceRepositoryConnected', data: { identifier: repo.identifier } };
  const withRepo: WorkspaceEvent = { type: 'WorkspaceUpdated', data: { changes: { vcsRepo: repo } } };

  it('changes only the named attributes of its repository', () =>
    given(created, withRepo)
      .when(update({ vcsRepo: { branch: 'main' } }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { vcsRepo: { ...repo, branch: 'main' } } } }));

  it('replaces the OAuth token by an app installation', () =>
    given(created, withRepo)
      .when(update({ vcsRepo: { vcsAppInstallationId: 'ghain-1' } }))
      .yields(
        {
          type: 'WorkspaceUpdated',
          data: { changes: { vcsRepo: { ...repo, oauthTokenId: null, vcsAppInstallationId: 'ghain-1' } } },
        },
        connected,
      ));

  it('records each repository that it is connected to, also when it is created, and again after it had none', () => {
    const { identifier, oauthTokenId } = repo;
    const settings = { ...DEFAULT_SETTINGS, vcsRepo: { ...repo, ingressSubmodules: false } };
    given()
      .when(create('one', { vcsRepo: { identifier, oauthTokenId } }))
      .yields({ type: 'WorkspaceCreated', data: { project: 'prj-1', name: 'one', settings, tags: [] } }, connected);
    const changes = { vcsRepo: { ...repo, identifier: 'acme/other' } };
    const other = { type: 'WorkspaceRepositoryConnected', data: { identifier: 'acme/other' } } as const;
    given(created, withRepo)
      .when(update({ vcsRepo: { identifier: 'acme/other' } }))
      .yields({ type: 'WorkspaceUpdated', data: { changes } }, other);
    given(created, withRepo, { type: 'WorkspaceUpdated', data: { changes: { vcsRepo: null } } })
      .when(update({ vcsRepo: { identifier, oauthTokenId } }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { vcsRepo: settings.vcsRepo } } }, connected);
  });

  it('loses its repository by null, but no required part of it', () => {
    given(created, withRepo)
      .when(update({ vcsRepo: null }))
      .yields({ type: 'WorkspaceUpdated', data: { changes: { vcsRepo: null } } });
    given(created, withRepo)
      .when(update({ vcsRepo: { oauthTokenId: null } }))
      .refuses('unprocessable', "OAuth token can't be blank");
  });

  it('requires the identifier and a credential of its first repository', () => {
    given(created)
      .when(update({ vcsRepo: { branch: 'main' } }))
      .refuses('unprocessable', "Identifier can't be blank");
    given()
      .when(create('one', { vcsRepo: { identifier: 'acme/net' } }))
      .refuses('unprocessable', "OAuth token can't be blank");
  });

  it('is not safely deleted while it is locked', () =>
    given(created, locked).when(remove(false)).refuses('conflict', 'locked'));

  it('is not safely deleted while its state is being processed', () =>
    given(created, uploading).when(remove(false)).refuses('conflict', 'being processed'));

  it('is not safely deleted while it manages resources, and the refusal contains neither of the other words', () =>
    given(created, managing)
      .when(remove(false))
      .refuses('conflict', /^(?!.*locked)(?!.*being processed).*2 resources/));

  it('gets an SSH key, another one, and none; the same key changes nothing', () => {
    const assign = (key: string | null) => ({ type: 'AssignSshKey', data: { key } }) as const;
    const assigned = (key: string): WorkspaceEvent => ({ type: 'WorkspaceSshKeyAssigned', data: { key } });
    const unassigned: WorkspaceEvent = { type: 'WorkspaceSshKeyUnassigned', data: { key: 'sshkey-2' } };
    given(created).when(assign('sshkey-1')).yields(assigned('sshkey-1'));
    given(created, assigned('sshkey-1')).when(assign('sshkey-1')).yields();
    given(created, assigned('sshkey-1')).when(assign('sshkey-2')).yields(assigned('sshkey-2'));
    given(created, assigned('sshkey-1'), assigned('sshkey-2')).when(assign(null)).yields(unassigned);
    given(created, assigned('sshkey-2'), unassigned).when(assign(null)).yields();
    given(created, deleted).when(assign(null)).refuses('not-found', 'Not found');
  });

  it('is force-deleted in every condition', () =>
    given(created, locked, managing)
      .when(remove(true))
      .yields({
        type: 'WorkspaceDeleted',
        data: { name: 'one', project: 'prj-1', forced: true, recoverableUntil: UNTIL },
      }));

  it('stays deleted', () =>
    given(created, deleted)
      .when(update({ autoApply: true }))
      .refuses('not-found', 'Not found'));
});
