import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { PROJECT_LEVELS, PROJECT_LEVEL_ACCESS, type CustomProjectAccess, type ProjectLevel } from '#api/access/rules';
import type { NamedFields } from './team-access.js';
import { PROJECT_ACCESS_SCALE, teamProject, type TeamProjectEvent } from './team-project.js';

const { given } = specify(teamProject);

const FIXED = PROJECT_LEVELS.filter((level) => level !== 'custom');
const { least: LEAST } = PROJECT_ACCESS_SCALE;

const team = { id: 'team-1', name: 'core', isOwners: false };
const add = (access: ProjectLevel, fields: NamedFields<CustomProjectAccess> = {}) =>
  ({ type: 'AddTeamProject', data: { team, project: 'prj-1', access, fields } }) as const;
const update = (fields: NamedFields<CustomProjectAccess>, access?: ProjectLevel) =>
  ({ type: 'UpdateTeamProject', data: { teamName: 'core', access, fields } }) as const;
const remove = { type: 'RemoveTeamProject', data: { teamName: 'core' } } as const;

const added = (access: ProjectLevel, custom: CustomProjectAccess | null = null): TeamProjectEvent => ({
  type: 'TeamProjectAdded',
  data: { team: 'team-1', teamName: 'core', project: 'prj-1', access, custom },
});
const updated = (access: ProjectLevel, custom: CustomProjectAccess | null = null): TeamProjectEvent => ({
  type: 'TeamProjectUpdated',
  data: { teamName: 'core', project: 'prj-1', access, custom },
});
const removed: TeamProjectEvent = { type: 'TeamProjectRemoved', data: { teamName: 'core', project: 'prj-1' } };

describe('a team’s access to a project', () => {
  it.each(FIXED)('is granted with the level %s and without custom fields', (level) =>
    given().when(add(level)).yields(added(level)),
  );

  it('is granted as custom with the least access plus the named fields of the project and its workspaces', () =>
    given()
      .when(add('custom', { create: true, runs: 'plan', project: { teams: 'manage' } }))
      .yields(
        added('custom', { ...LEAST, create: true, runs: 'plan', project: { ...LEAST.project, teams: 'manage' } }),
      ));

  it('refuses fields beside a fixed level, for the project and for its workspaces', () => {
    const text = (name: string) =>
      `${name} is read-only when access level is 'maintain'; use the 'custom' access level to set this attribute.`;
    given()
      .when(add('maintain', { runTasks: false }))
      .refuses('unprocessable', text('Run tasks'));
    given(added('maintain'))
      .when(update({ project: { variableSets: 'none' } }))
      .refuses('unprocessable', text('Variable sets'));
    // Clients send both groups empty beside a fixed level.
    given()
      .when(add('maintain', { runs: undefined, project: { settings: undefined } }))
      .yields(added('maintain'));
  });

  it('is refused for the owners team', () =>
    given()
      .when({ ...add('read'), data: { ...add('read').data, team: { ...team, isOwners: true } } })
      .refuses('unprocessable', 'The owners team has access to every project already'));

  it.each(FIXED)('changes from %s to custom, starting from the fields of that level', (level) =>
    given(added(level))
      .when(update({ project: { settings: 'update' } }, 'custom'))
      .yields(
        updated('custom', {
          ...PROJECT_LEVEL_ACCESS[level],
          project: { ...PROJECT_LEVEL_ACCESS[level].project, settings: 'update' },
        }),
      ),
  );

  it('changes from custom to a fixed level, which drops the fields', () =>
    given(added('custom', LEAST)).when(update({}, 'admin')).yields(updated('admin')));

  it('records no event if nothing changes', () => {
    given(added('write')).when(update({}, 'write')).yields();
    given(added('custom', LEAST))
      .when(update({ move: false, project: { teams: 'none' } }, 'custom'))
      .yields();
  });

  it('is removed once', () => {
    given(added('read')).when(remove).yields(removed);
    given(added('read'), removed).when(remove).refuses('not-found', 'Not found');
    given(added('read'), removed).when(update({}, 'admin')).refuses('not-found', 'Not found');
    given(added('read'), removed).when(add('read')).refuses('conflict', 'Team access exists already');
  });
});
