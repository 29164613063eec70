import { describe, expect, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { WORKSPACE_LEVELS, WORKSPACE_LEVEL_ACCESS, type WorkspaceAccess, type WorkspaceLevel } from '#api/access/rules';
import { expandAccess, type NamedFields } from './team-access.js';
import { teamWorkspace, WORKSPACE_ACCESS_SCALE, type TeamWorkspaceEvent } from './team-workspace.js';

const { given } = specify(teamWorkspace);

const FIXED = WORKSPACE_LEVELS.filter((level) => level !== 'custom');
const { least: LEAST } = WORKSPACE_ACCESS_SCALE;

const team = { id: 'team-1', name: 'core', isOwners: false };
const add = (access: WorkspaceLevel, fields: NamedFields<WorkspaceAccess> = {}) =>
  ({ type: 'AddTeamWorkspace', data: { team, workspace: 'ws-1', access, fields } }) as const;
const update = (fields: NamedFields<WorkspaceAccess>, access?: WorkspaceLevel) =>
  ({ type: 'UpdateTeamWorkspace', data: { teamName: 'core-2', access, fields } }) as const;
const remove = { type: 'RemoveTeamWorkspace', data: { teamName: 'core-2' } } as const;

const added = (access: WorkspaceLevel, custom: WorkspaceAccess | null = null): TeamWorkspaceEvent => ({
  type: 'TeamWorkspaceAdded',
  data: { team: 'team-1', teamName: 'core', workspace: 'ws-1', access, custom },
});
const updated = (access: WorkspaceLevel, custom: WorkspaceAccess | null = null): TeamWorkspaceEvent => ({
  type: 'TeamWorkspaceUpdated',
  data: { teamName: 'core-2', workspace: 'ws-1', access, custom },
});
const removed: TeamWorkspaceEvent = {
  type: 'TeamWorkspaceRemoved',
  data: { teamName: 'core-2', workspace: 'ws-1' },
};

describe('a team’s access to a workspace', () => {
  it.each(FIXED)('is granted with the level %s and without custom fields', (level) =>
    given().when(add(level)).yields(added(level)),
  );

  it('is granted as custom with the least access plus the named fields', () => {
    given().when(add('custom')).yields(added('custom', LEAST));
    given()
      .when(add('custom', { runs: 'apply', workspaceLocking: true }))
      .yields(added('custom', { ...LEAST, runs: 'apply', workspaceLocking: true }));
  });

  it('ignores unknown fields', () =>
    given()
      .when(add('custom', { superpowers: true } as NamedFields<WorkspaceAccess>))
      .yields(added('custom', LEAST)));

  it.each(FIXED)('refuses fields beside %s', (level) => {
    const text = `Runs is read-only when access level is '${level}'; use the 'custom' access level to set this attribute.`;
    given()
      .when(add(level, { runs: 'read' }))
      .refuses('unprocessable', text);
    given(added('custom', LEAST))
      .when(update({ runs: 'read' }, level))
      .refuses('unprocessable', text);
    given(added(level))
      .when(update({ runs: 'read' }))
      .refuses('unprocessable', text);
  });

  it('names each refused field as the API does', () =>
    given()
      .when(add('read', { stateVersions: 'write', runTasks: false, variables: undefined }))
      .refuses('unprocessable', /^State versions is read-only[^;]*;[^;]*; Run tasks is read-only[^;]*;[^;]*$/));

  it('is refused for the owners team', () =>
    given()
      .when({ ...add('read'), data: { ...add('read').data, team: { ...team, isOwners: true } } })
      .refuses('unprocessable', 'The owners team has access to every workspace already'));

  it('changes from one level to another', () => {
    given(added('read')).when(update({}, 'admin')).yields(updated('admin'));
    given(added('custom', LEAST)).when(update({}, 'plan')).yields(updated('plan'));
  });

  it.each(FIXED)('changes from %s to custom, starting from the fields of that level', (level) => {
    given(added(level))
      .when(update({ sentinelMocks: 'read', runs: 'plan' }, 'custom'))
      .yields(updated('custom', { ...WORKSPACE_LEVEL_ACCESS[level], sentinelMocks: 'read', runs: 'plan' }));
  });

  it('changes the named fields and keeps the others', () =>
    given(added('custom', { ...LEAST, variables: 'write' }))
      .when(update({ stateVersions: 'read' }))
      .yields(updated('custom', { ...LEAST, variables: 'write', stateVersions: 'read' })));

  it('records no event if nothing changes', () => {
    given(added('read')).when(update({})).yields();
    given(added('read')).when(update({}, 'read')).yields();
    given(added('custom', LEAST))
      .when(update({ runs: 'read' }, 'custom'))
      .yields();
    // Like a snapshot from the database, with the fields in another order.
    const reversed = Object.fromEntries(Object.entries(LEAST).toReversed()) as WorkspaceAccess;
    given(added('custom', reversed))
      .when(update({ runs: 'read' }))
      .yields();
  });

  it('is removed once', () => {
    given(added('read')).when(remove).yields(removed);
    given(added('read'), removed).when(remove).refuses('not-found', 'Not found');
    given(added('read'), removed).when(update({}, 'admin')).refuses('not-found', 'Not found');
    given(added('read'), removed).when(add('read')).refuses('conflict', 'Team access exists already');
    given().when(remove).refuses('not-found', 'Not found');
  });

  it('has the last granted level and fields', () => {
    const { state } = given(added('read'), updated('custom', { ...LEAST, runs: 'plan' }));
    if (state.status !== 'active') throw new Error('the access is not active');
    expect(expandAccess(state.terms, WORKSPACE_ACCESS_SCALE)).toEqual({ ...LEAST, runs: 'plan' });
    expect(expandAccess({ access: 'write', custom: null }, WORKSPACE_ACCESS_SCALE)).toEqual(
      WORKSPACE_LEVEL_ACCESS.write,
    );
  });
});
