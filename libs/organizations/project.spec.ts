import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
import { DEFAULT_PROJECT_SETTINGS, project, type ProjectEvent } from './project.js';

const { given } = specify(project);

const born: ProjectEvent = {
  type: 'ProjectCreated',
  data: { name: 'Core', description: 'of it all', settings: DEFAULT_PROJECT_SETTINGS },
};
const gone: ProjectEvent = { type: 'ProjectDeleted', data: { name: 'Core' } };
const create = (name: string, settings: object = {}) =>
  ({ type: 'CreateProject', data: { name, description: null, settings } }) as const;
const update = (changes: object) => ({ type: 'UpdateProject', data: { changes } }) as const;
const remove = (isDefault: boolean, workspaces: number) =>
  ({ type: 'DeleteProject', data: { isDefault, workspaces } }) as const;

describe('a project', () => {
  it('is born, following its organization where the request says nothing', () =>
    given()
      .when(create('My Project_1-a', { defaultExecutionMode: 'local' }))
      .yields({
        type: 'ProjectCreated',
        data: {
          name: 'My Project_1-a',
          description: null,
          settings: { ...DEFAULT_PROJECT_SETTINGS, defaultExecutionMode: 'local' },
        },
      }));

  it.each(['', '   '])('has a name that is not blank: %j', (name) => {
    given().when(create(name)).refuses('unprocessable', "Name can't be blank");
    given(born).when(update({ name })).refuses('unprocessable', "Name can't be blank");
  });

  it.each(['dotted.name', 'ünïcode', 'a/b', 'tab\tbed', 'line\nbreak', 'a,b'])('is not named %j', (name) =>
    given().when(create(name)).refuses('unprocessable', 'Name may only contain'),
  );

  it('has a name that is not too long', () =>
    given()
      .when(create('x'.repeat(91)))
      .refuses('unprocessable', 'Name is too long'));

  it.each(['14', '0d', '12345d', '3w', 'd'])('refuses the auto-destroy duration %s', (autoDestroyActivityDuration) => {
    given().when(create('Core', { autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format');
    given(born).when(update({ autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format');
  });

  it('tells only what an update changes; null clears', () =>
    given(born)
      .when(update({ name: 'Core', description: null, autoDestroyActivityDuration: '14d' }))
      .yields({
        type: 'ProjectUpdated',
        data: { changes: { description: null, autoDestroyActivityDuration: '14d' } },
      }));

  it('remembers what was changed', () =>
    given(born, { type: 'ProjectUpdated', data: { changes: { description: null, autoDestroyActivityDuration: '2h' } } })
      .when(update({ name: 'Core', description: null, autoDestroyActivityDuration: '2h' }))
      .yields());

  it('is deleted when it is empty', () => given(born).when(remove(false, 0)).yields(gone));

  it('stays while it holds workspaces', () =>
    given(born).when(remove(false, 2)).refuses('unprocessable', 'still holds 2 workspaces'));

  it('stays where it is the default, full or empty', () => {
    given(born).when(remove(true, 0)).refuses('unprocessable', 'The default project cannot be deleted');
    given(born).when(remove(true, 2)).refuses('unprocessable', 'The default project cannot be deleted');
  });

  it('is gone for good', () => {
    given(born, gone).when(remove(false, 0)).refuses('not-found', 'Not found');
    given(born, gone)
      .when(update({ name: 'Again' }))
      .refuses('not-found', 'Not found');
    given(born, gone).when(create('Again')).refuses('conflict', 'Project exists already');
  });
});
