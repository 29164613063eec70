import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { PROJECT_LEVELS, PROJECT_LEVEL_ACCESS, type CustomProjectAccess, type ProjectLevel } from '#access/rules';
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

describe('a team on a project', () => {
  it.each(FIXED)('is given %s, which says it all', (level) => given().when(add(level)).yields(added(level)));

  it('is given custom access: the least, and what is named of the project and of the workspaces in it', () =>
    given()
      .when(add('custom', { create: true, runs: 'plan', project: { teams: 'manage' } }))
      .yields(
        added('custom', { ...LEAST, create: true, runs: 'plan', project: { ...LEAST.project, teams: 'manage' } }),
      ));

  it('has no fields set beside a fixed level, in neither half', () => {
    const text = (name: string) =>
      `${name} is read-only when access level is 'maintain'; use the 'custom' access level to set this attribute.`;
    given()
      .when(add('maintain', { runTasks: false }))
      .refuses('unprocessable', text('Run tasks'));
    given(added('maintain'))
      .when(update({ project: { variableSets: 'none' } }))
      .refuses('unprocessable', text('Variable sets'));
    // Clients send both halves empty beside a fixed level.
    given()
      .when(add('maintain', { runs: undefined, project: { settings: undefined } }))
      .yields(added('maintain'));
  });

  it('is not the owners', () =>
    given()
      .when({ ...add('read'), data: { ...add('read').data, team: { ...team, isOwners: true } } })
      .refuses('unprocessable', 'The owners team has access to every project already'));

  it.each(FIXED)('goes from %s to custom where that level left off', (level) =>
    given(added(level))
      .when(update({ project: { settings: 'update' } }, 'custom'))
      .yields(
        updated('custom', {
          ...PROJECT_LEVEL_ACCESS[level],
          project: { ...PROJECT_LEVEL_ACCESS[level].project, settings: 'update' },
        }),
      ),
  );

  it('goes from custom to a fixed level, of which the fields leave nothing', () =>
    given(added('custom', LEAST)).when(update({}, 'admin')).yields(updated('admin')));

  it('is not told of what changes nothing', () => {
    given(added('write')).when(update({}, 'write')).yields();
    given(added('custom', LEAST))
      .when(update({ move: false, project: { teams: 'none' } }, 'custom'))
      .yields();
  });

  it('has it taken away, once', () => {
    given(added('read')).when(remove).yields(removed);
    given(added('read'), removed).when(remove).refuses('not-found', 'Not found');
    given(added('read'), removed).when(update({}, 'admin')).refuses('not-found', 'Not found');
    given(added('read'), removed).when(add('read')).refuses('conflict', 'Team access exists already');
  });
});
