import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from './settings.js';
import type { SettingsInput, WorkspaceSettings } from './workspace-settings.js';
import { workspace, type WorkspaceDecisionContext, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const update = (changes: SettingsInput, context: WorkspaceDecisionContext = {}) =>
  ({ type: 'UpdateWorkspace', data: { changes, ...context } }) as const;
const create = (settings: SettingsInput, context: WorkspaceDecisionContext = {}) =>
  ({
    type: 'CreateWorkspace',
    data: { project: 'prj-1', name: 'one', settings, names: [], bindings: [], ...context },
  }) as const;
const changed = (changes: Partial<WorkspaceSettings>): WorkspaceEvent => ({
  type: 'WorkspaceUpdated',
  data: { changes },
});
const created = (settings: Partial<WorkspaceSettings> = {}): WorkspaceEvent => ({
  type: 'WorkspaceCreated',
  data: { project: 'prj-1', name: 'one', settings: { ...DEFAULT_SETTINGS, ...settings }, tags: [] },
});

const MUST = "must be specified when using 'agent' execution mode";
const MUST_NOT = "must not be specified unless using 'agent' execution mode";
const BOTH = { executionMode: true, agentPool: true };
const NEITHER = { executionMode: false, agentPool: false };
const followsAgents = { followedMode: 'agent' } as const;

describe('the execution mode of a workspace', () => {
  it('is its own after a request sets it', () => {
    given()
      .when(create({ executionMode: 'local' }))
      .yields(created({ executionMode: 'local', settingOverwrites: BOTH }));
    given(created())
      .when(update({ executionMode: 'remote' }))
      .yields(changed({ settingOverwrites: BOTH }));
  });

  it('must be set if the overwrites name it', () => {
    const overwrites = { settingOverwrites: { executionMode: true } };
    given().when(create(overwrites)).refuses('unprocessable', 'Execution mode must be given');
    given(created()).when(update(overwrites)).refuses('unprocessable', 'Execution mode must be given');
    given(created())
      .when(update({ ...overwrites, executionMode: 'local' }))
      .yields(changed({ settingOverwrites: BOTH, executionMode: 'local' }));
  });

  it('follows the project if the overwrites say so, whatever mode the request has', () => {
    const own = { executionMode: 'local', settingOverwrites: BOTH } as const;
    given(created(own))
      .when(update({ settingOverwrites: NEITHER }))
      .yields(changed({ settingOverwrites: NEITHER }));
    given(created(own))
      .when(update({ executionMode: 'remote', settingOverwrites: NEITHER }))
      .yields(changed({ settingOverwrites: NEITHER }));
    given(created())
      .when(update({ executionMode: 'local', agentPoolId: 'apool-1', settingOverwrites: NEITHER }))
      .yields();
  });
});

describe('the agent pool of a workspace', () => {
  const pool = { agentPoolId: 'apool-1' };
  const agents = { executionMode: 'agent', ...pool } as const;

  it('is set with the agent mode, and refused with any other mode', () => {
    given()
      .when(create(agents))
      .yields(created({ ...agents, settingOverwrites: BOTH }));
    given(created())
      .when(update(agents))
      .yields(changed({ settingOverwrites: BOTH, ...agents }));
    for (const executionMode of ['remote', 'local'] as const) {
      given()
        .when(create({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
      given(created())
        .when(update({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
      given(created({ ...agents, settingOverwrites: BOTH }))
        .when(update({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
    }
    given()
      .when(create({ executionMode: 'agent' }))
      .refuses('unprocessable', MUST);
    given(created())
      .when(update({ executionMode: 'agent' }))
      .refuses('unprocessable', MUST);
    given(created())
      .when(update({ executionMode: 'agent', agentPoolId: null }))
      .refuses('unprocessable', MUST);
  });

  it('stays if the agent mode is set again', () =>
    given(created({ ...agents, settingOverwrites: BOTH }))
      .when(update({ executionMode: 'agent' }))
      .yields());

  it('may be the only own setting if the workspace follows the project into the agent mode', () => {
    const own = { executionMode: false, agentPool: true };
    given()
      .when(create(pool, followsAgents))
      .yields(created({ ...pool, settingOverwrites: own }));
    given(created())
      .when(update(pool, followsAgents))
      .yields(changed({ settingOverwrites: own, ...pool }));
    given(created())
      .when(update(pool, { followedMode: 'local' }))
      .refuses('unprocessable', MUST_NOT);
    given(created({ ...pool, settingOverwrites: own }))
      .when(update({ agentPoolId: null }, followsAgents))
      .yields(changed({ settingOverwrites: NEITHER, agentPoolId: null }));
    given(created({ ...pool, settingOverwrites: own }))
      .when(update({ settingOverwrites: { agentPool: false } }, followsAgents))
      .yields(changed({ settingOverwrites: NEITHER, agentPoolId: null }));
    given(created())
      .when(update({ settingOverwrites: { agentPool: true } }, followsAgents))
      .refuses('unprocessable', MUST);
  });

  it('is removed if the stored mode is not in effect', () =>
    given(created({ executionMode: 'agent' }))
      .when(update(pool))
      .refuses('unprocessable', MUST_NOT));

  it('is not required by an update of another setting', () =>
    given(created({ executionMode: 'agent', settingOverwrites: BOTH }))
      .when(update({ autoApply: true }))
      .yields(changed({ autoApply: true })));
});

describe('the auto-destruction of a workspace', () => {
  const idle = { autoDestroyActivityDuration: '14d' };
  const at = { autoDestroyAt: '2020-01-01T00:00:00.000Z' };
  const off = { inheritsProjectAutoDestroy: false };
  const nothing = { autoDestroyActivityDuration: null, autoDestroyAt: null };

  it('is stored as requested: duration and time together, also in the past', () => {
    given(created())
      .when(update({ ...idle, ...at }))
      .yields(changed({ ...idle, ...at }));
    given(created(idle)).when(update(at)).yields(changed(at));
    given(created({ ...idle, ...at }))
      .when(update({ autoDestroyAt: null }))
      .yields(changed({ autoDestroyAt: null }));
  });

  it('is the project’s again when the workspace’s own is removed', () => {
    given(created(idle))
      .when(update(nothing))
      .yields(changed({ autoDestroyActivityDuration: null }));
    given(created({ ...idle, ...off }))
      .when(update(nothing))
      .yields(changed({ autoDestroyActivityDuration: null, inheritsProjectAutoDestroy: true }));
  });

  it('inherits the project’s value or nothing, as requested', () => {
    given(created()).when(update(off)).yields(changed(off));
    given(created(off))
      .when(update({ inheritsProjectAutoDestroy: true }))
      .yields(changed({ inheritsProjectAutoDestroy: true }));
    given(created({ ...idle, ...at }))
      .when(update({ inheritsProjectAutoDestroy: true }))
      .yields(changed(nothing));
    given(created())
      .when(update({ ...idle, inheritsProjectAutoDestroy: true }))
      .yields();
    given(created())
      .when(update({ ...idle, ...off }))
      .yields(changed(idle));
  });

  it('stays off if a request stops the inheritance without a value', () =>
    given(created(off)).when(update(nothing)).yields());

  it('is the workspace’s own after a value is set, even if it inherited before', () =>
    given(created({ inheritsProjectAutoDestroy: true }))
      .when(update(idle))
      .yields(changed({ ...idle, inheritsProjectAutoDestroy: false })));

  it.each(['14', '0d', '00h', '12345d', '3w', 'd', '1.5d', '-1d', '1 d'])('refuses the duration %j', (duration) => {
    for (const inheritance of [{}, { inheritsProjectAutoDestroy: true }]) {
      const input = { autoDestroyActivityDuration: duration, ...inheritance };
      const text = "expect up to 4 numeric digits and 1 unit ('d' or 'h')";
      given(created()).when(update(input)).refuses('unprocessable', text);
      given().when(create(input)).refuses('unprocessable', text);
    }
  });
});

describe('the tool version of a workspace', () => {
  const versionProblem = { detail: 'Terraform version is none', pointer: '/data/attributes/terraform-version' };

  it('is refused if there is a problem with it', () => {
    given()
      .when(create({ terraformVersion: '9.9.9' }, { versionProblem }))
      .refuses('unprocessable', versionProblem.detail);
    given(created())
      .when(update({ terraformVersion: '9.9.9' }, { versionProblem }))
      .refuses('unprocessable', versionProblem.detail);
  });

  it('stays if the workspace already has it', () =>
    given(created({ terraformVersion: '9.9.9' }))
      .when(update({ terraformVersion: '9.9.9', autoApply: true }, { versionProblem }))
      .yields(changed({ autoApply: true })));
});

describe('the shared state of a workspace', () => {
  it('is shared with the organization or with the project, not with both', () => {
    const text = 'Project remote state cannot be enabled when global remote state sharing is enabled';
    given()
      .when(create({ globalRemoteState: true, projectRemoteState: true }))
      .refuses('unprocessable', text);
    given(created({ globalRemoteState: true }))
      .when(update({ projectRemoteState: true }))
      .refuses('unprocessable', text);
    given(created({ projectRemoteState: true }))
      .when(update({ globalRemoteState: true }))
      .refuses('unprocessable', text);
    given(created({ projectRemoteState: true }))
      .when(update({ globalRemoteState: true, projectRemoteState: false }))
      .yields(changed({ globalRemoteState: true, projectRemoteState: false }));
  });
});
