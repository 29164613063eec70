import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { DEFAULT_SETTINGS } from './settings.js';
import type { SettingsInput, WorkspaceSettings } from './workspace-settings.js';
import { workspace, type WorkspaceDecisionContext, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const update = (changes: SettingsInput, around: WorkspaceDecisionContext = {}) =>
  ({ type: 'UpdateWorkspace', data: { changes, ...around } }) as const;
const create = (settings: SettingsInput, around: WorkspaceDecisionContext = {}) =>
  ({
    type: 'CreateWorkspace',
    data: { project: 'prj-1', name: 'one', settings, names: [], bindings: [], ...around },
  }) as const;
const changed = (changes: Partial<WorkspaceSettings>): WorkspaceEvent => ({
  type: 'WorkspaceUpdated',
  data: { changes },
});
const born = (settings: Partial<WorkspaceSettings> = {}): WorkspaceEvent => ({
  type: 'WorkspaceCreated',
  data: { project: 'prj-1', name: 'one', settings: { ...DEFAULT_SETTINGS, ...settings }, tags: [] },
});

const MUST = "must be specified when using 'agent' execution mode";
const MUST_NOT = "must not be specified unless using 'agent' execution mode";
const BOTH = { executionMode: true, agentPool: true };
const NEITHER = { executionMode: false, agentPool: false };
const followsAgents = { followedMode: 'agent' } as const;

describe('the execution mode of a workspace', () => {
  it('is its own once it is given', () => {
    given()
      .when(create({ executionMode: 'local' }))
      .yields(born({ executionMode: 'local', settingOverwrites: BOTH }));
    given(born())
      .when(update({ executionMode: 'remote' }))
      .yields(changed({ settingOverwrites: BOTH }));
  });

  it('is given where the overwrites name it', () => {
    const named = { settingOverwrites: { executionMode: true } };
    given().when(create(named)).refuses('unprocessable', 'Execution mode must be given');
    given(born()).when(update(named)).refuses('unprocessable', 'Execution mode must be given');
    given(born())
      .when(update({ ...named, executionMode: 'local' }))
      .yields(changed({ settingOverwrites: BOTH, executionMode: 'local' }));
  });

  it('follows the project where the request says so, whatever else it says', () => {
    const own = { executionMode: 'local', settingOverwrites: BOTH } as const;
    given(born(own))
      .when(update({ settingOverwrites: NEITHER }))
      .yields(changed({ settingOverwrites: NEITHER }));
    given(born(own))
      .when(update({ executionMode: 'remote', settingOverwrites: NEITHER }))
      .yields(changed({ settingOverwrites: NEITHER }));
    given(born())
      .when(update({ executionMode: 'local', agentPoolId: 'apool-1', settingOverwrites: NEITHER }))
      .yields();
  });
});

describe('the agent pool of a workspace', () => {
  const pool = { agentPoolId: 'apool-1' };
  const agents = { executionMode: 'agent', ...pool } as const;

  it('is given with the agent mode, and with no other', () => {
    given()
      .when(create(agents))
      .yields(born({ ...agents, settingOverwrites: BOTH }));
    given(born())
      .when(update(agents))
      .yields(changed({ settingOverwrites: BOTH, ...agents }));
    for (const executionMode of ['remote', 'local'] as const) {
      given()
        .when(create({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
      given(born())
        .when(update({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
      given(born({ ...agents, settingOverwrites: BOTH }))
        .when(update({ ...pool, executionMode }))
        .refuses('unprocessable', MUST_NOT);
    }
    given()
      .when(create({ executionMode: 'agent' }))
      .refuses('unprocessable', MUST);
    given(born())
      .when(update({ executionMode: 'agent' }))
      .refuses('unprocessable', MUST);
    given(born())
      .when(update({ executionMode: 'agent', agentPoolId: null }))
      .refuses('unprocessable', MUST);
  });

  it('stays when the agent mode is said again', () =>
    given(born({ ...agents, settingOverwrites: BOTH }))
      .when(update({ executionMode: 'agent' }))
      .yields());

  it('may be all that it has of its own, where it follows into the agent mode', () => {
    const own = { executionMode: false, agentPool: true };
    given()
      .when(create(pool, followsAgents))
      .yields(born({ ...pool, settingOverwrites: own }));
    given(born())
      .when(update(pool, followsAgents))
      .yields(changed({ settingOverwrites: own, ...pool }));
    given(born())
      .when(update(pool, { followedMode: 'local' }))
      .refuses('unprocessable', MUST_NOT);
    given(born({ ...pool, settingOverwrites: own }))
      .when(update({ agentPoolId: null }, followsAgents))
      .yields(changed({ settingOverwrites: NEITHER, agentPoolId: null }));
    given(born({ ...pool, settingOverwrites: own }))
      .when(update({ settingOverwrites: { agentPool: false } }, followsAgents))
      .yields(changed({ settingOverwrites: NEITHER, agentPoolId: null }));
    given(born())
      .when(update({ settingOverwrites: { agentPool: true } }, followsAgents))
      .refuses('unprocessable', MUST);
  });

  it('is none of a mode that is remembered and does not count', () =>
    given(born({ executionMode: 'agent' }))
      .when(update(pool))
      .refuses('unprocessable', MUST_NOT));

  it('is not asked for by an update of something else', () =>
    given(born({ executionMode: 'agent', settingOverwrites: BOTH }))
      .when(update({ autoApply: true }))
      .yields(changed({ autoApply: true })));
});

describe('the auto-destruction of a workspace', () => {
  const idle = { autoDestroyActivityDuration: '14d' };
  const at = { autoDestroyAt: '2020-01-01T00:00:00.000Z' };
  const off = { inheritsProjectAutoDestroy: false };
  const nothing = { autoDestroyActivityDuration: null, autoDestroyAt: null };

  it('is kept as it is given, both together and in the past', () => {
    given(born())
      .when(update({ ...idle, ...at }))
      .yields(changed({ ...idle, ...at }));
    given(born(idle)).when(update(at)).yields(changed(at));
    given(born({ ...idle, ...at }))
      .when(update({ autoDestroyAt: null }))
      .yields(changed({ autoDestroyAt: null }));
  });

  it('is the project’s again when its own is given up', () => {
    given(born(idle))
      .when(update(nothing))
      .yields(changed({ autoDestroyActivityDuration: null }));
    given(born({ ...idle, ...off }))
      .when(update(nothing))
      .yields(changed({ autoDestroyActivityDuration: null, inheritsProjectAutoDestroy: true }));
  });

  it('is told to be the project’s, or none', () => {
    given(born()).when(update(off)).yields(changed(off));
    given(born(off))
      .when(update({ inheritsProjectAutoDestroy: true }))
      .yields(changed({ inheritsProjectAutoDestroy: true }));
    given(born({ ...idle, ...at }))
      .when(update({ inheritsProjectAutoDestroy: true }))
      .yields(changed(nothing));
    given(born())
      .when(update({ ...idle, inheritsProjectAutoDestroy: true }))
      .yields();
    given(born())
      .when(update({ ...idle, ...off }))
      .yields(changed(idle));
  });

  it('stays off while nothing is named that it could be of its own', () =>
    given(born(off)).when(update(nothing)).yields());

  it('is its own once it is given, though it had been told to inherit', () =>
    given(born({ inheritsProjectAutoDestroy: true }))
      .when(update(idle))
      .yields(changed({ ...idle, inheritsProjectAutoDestroy: false })));

  it.each(['14', '0d', '00h', '12345d', '3w', 'd', '1.5d', '-1d', '1 d'])('is not after %j', (duration) => {
    for (const told of [{}, { inheritsProjectAutoDestroy: true }]) {
      const input = { autoDestroyActivityDuration: duration, ...told };
      const text = "expect up to 4 numeric digits and 1 unit ('d' or 'h')";
      given(born()).when(update(input)).refuses('unprocessable', text);
      given().when(create(input)).refuses('unprocessable', text);
    }
  });
});

describe('the tool’s version of a workspace', () => {
  const versionProblem = { detail: 'Terraform version is none', pointer: '/data/attributes/terraform-version' };

  it('is refused where there is something wrong with it', () => {
    given()
      .when(create({ terraformVersion: '9.9.9' }, { versionProblem }))
      .refuses('unprocessable', versionProblem.detail);
    given(born())
      .when(update({ terraformVersion: '9.9.9' }, { versionProblem }))
      .refuses('unprocessable', versionProblem.detail);
  });

  it('stays with who has it already', () =>
    given(born({ terraformVersion: '9.9.9' }))
      .when(update({ terraformVersion: '9.9.9', autoApply: true }, { versionProblem }))
      .yields(changed({ autoApply: true })));
});

describe('the state of a workspace', () => {
  it('is shared with the organization or with the project, not with both', () => {
    const text = 'Project remote state cannot be enabled when global remote state sharing is enabled';
    given()
      .when(create({ globalRemoteState: true, projectRemoteState: true }))
      .refuses('unprocessable', text);
    given(born({ globalRemoteState: true }))
      .when(update({ projectRemoteState: true }))
      .refuses('unprocessable', text);
    given(born({ projectRemoteState: true }))
      .when(update({ globalRemoteState: true }))
      .refuses('unprocessable', text);
    given(born({ projectRemoteState: true }))
      .when(update({ globalRemoteState: true, projectRemoteState: false }))
      .yields(changed({ globalRemoteState: true, projectRemoteState: false }));
  });
});
