import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import {
  agentPool,
  type AgentPoolChanges,
  type AgentPoolEvent,
  type AgentPoolSettings,
  type NewAgentPool,
} from './agent-pool.js';

const { given } = specify(agentPool);

const settings: AgentPoolSettings = {
  name: 'edge',
  organizationScoped: true,
  remoteRunsEnabled: false,
  allowedWorkspaces: [],
  allowedProjects: [],
  excludedWorkspaces: [],
};
const created: AgentPoolEvent = { type: 'AgentPoolCreated', data: settings };
const deleted: AgentPoolEvent = { type: 'AgentPoolDeleted', data: { name: 'edge' } };
const updated = (changes: AgentPoolChanges): AgentPoolEvent => ({ type: 'AgentPoolUpdated', data: { changes } });

const create = (poolSettings: NewAgentPool, ofSite = false) =>
  ({ type: 'CreateAgentPool', data: { settings: poolSettings, ofSite } }) as const;
const update = (changes: AgentPoolChanges, ofSite = false) =>
  ({ type: 'UpdateAgentPool', data: { changes, ofSite } }) as const;
const remove = (use: { workspaces?: number; projects?: number; organization?: boolean } = {}) =>
  ({ type: 'DeleteAgentPool', data: { use: { workspaces: 0, projects: 0, organization: false, ...use } } }) as const;

describe('an agent pool of the site', () => {
  const siteSettings = { ...settings, remoteRunsEnabled: true };
  const ofSite: AgentPoolEvent = { type: 'AgentPoolCreated', data: siteSettings };

  it('executes remote runs', () => {
    given()
      .when(create({ name: 'edge' }, true))
      .yields(ofSite);
  });

  it('is renamed', () => {
    given(ofSite)
      .when(update({ name: 'rim' }, true))
      .yields(updated({ name: 'rim' }));
  });

  it.each<AgentPoolChanges>([
    { remoteRunsEnabled: false },
    { organizationScoped: false },
    { allowedWorkspaces: ['ws-1'] },
    { allowedProjects: ['prj-1'] },
    { excludedWorkspaces: ['ws-1'] },
  ])('refuses the setting %j', (changes) => {
    const detail = 'A pool of the site has only a name';
    given()
      .when(create({ name: 'edge', ...changes }, true))
      .refuses('unprocessable', detail);
    given(ofSite).when(update(changes, true)).refuses('unprocessable', detail);
  });

  it('accepts its own settings, which clients send back', () => {
    given(ofSite).when(update(siteSettings, true)).yields();
  });
});

describe('an agent pool', () => {
  it('is for the whole organization by default', () => {
    given()
      .when(create({ name: 'edge' }))
      .yields(created);
  });

  it('sorts its lists and removes duplicate ids', () => {
    given()
      .when(create({ name: 'edge', organizationScoped: false, allowedWorkspaces: ['ws-2', 'ws-1', 'ws-2'] }))
      .yields({
        type: 'AgentPoolCreated',
        data: { ...settings, organizationScoped: false, allowedWorkspaces: ['ws-1', 'ws-2'] },
      });
  });

  it('is created once', () => {
    given(created)
      .when(create({ name: 'edge' }))
      .refuses('conflict', 'exists already');
  });

  it.each([
    ['', "Name can't be blank"],
    ['a b', /^Name may only contain/],
    ['x'.repeat(91), /^Name is too long/],
  ])('refuses the name %j', (name, detail) => {
    given().when(create({ name })).refuses('unprocessable', detail);
    given(created).when(update({ name })).refuses('unprocessable', detail);
  });

  it('records only changed attributes', () => {
    const changes = { name: 'rim', organizationScoped: true, allowedProjects: ['prj-1'] };
    given(created)
      .when(update(changes))
      .yields(updated({ name: 'rim', allowedProjects: ['prj-1'] }));
  });

  it('replaces or clears a list', () => {
    given(created, updated({ allowedWorkspaces: ['ws-1', 'ws-2'] }))
      .when(update({ allowedWorkspaces: ['ws-3'] }))
      .yields(updated({ allowedWorkspaces: ['ws-3'] }));
    given(created, updated({ excludedWorkspaces: ['ws-1'] }))
      .when(update({ excludedWorkspaces: [] }))
      .yields(updated({ excludedWorkspaces: [] }));
  });

  it('executes runs in remote mode only if a command enables it', () => {
    given()
      .when(create({ name: 'edge', remoteRunsEnabled: true }))
      .yields({ type: 'AgentPoolCreated', data: { ...settings, remoteRunsEnabled: true } });
    given(created)
      .when(update({ remoteRunsEnabled: true }))
      .yields(updated({ remoteRunsEnabled: true }));
    given(created, updated({ remoteRunsEnabled: true }))
      .when(update({ remoteRunsEnabled: true }))
      .yields();
    given(created, updated({ remoteRunsEnabled: true }))
      .when(update({ remoteRunsEnabled: false }))
      .yields(updated({ remoteRunsEnabled: false }));
  });

  it('records no event if only the order of a list changes', () => {
    given(created, updated({ allowedWorkspaces: ['ws-1', 'ws-2'] }))
      .when(update({ allowedWorkspaces: ['ws-2', 'ws-1'] }))
      .yields();
  });

  it.each([
    [{ workspaces: 1 }, 'Agent pool is used by 1 workspace;'],
    [{ projects: 2 }, 'Agent pool is used by 2 projects;'],
    [{ workspaces: 3, organization: true }, 'Agent pool is used by 3 workspaces, the organization;'],
  ])('is not deleted while it is used: %j', (use, detail) => {
    given(created).when(remove(use)).refuses('unprocessable', detail);
  });

  it('is deleted once, and refuses every command afterwards', () => {
    given(created).when(remove()).yields(deleted);
    given(created, deleted).when(remove()).refuses('not-found', 'Not found');
    given(created, deleted).when(update({})).refuses('not-found', 'Not found');
  });
});
