import { describe, it } from '@jest/globals';
import type { BindingMode, Tag } from '#kernel';
import { specify } from '#kernel/spec';
import { DEFAULT_PROJECT_SETTINGS, project, type ProjectEvent } from './project.js';

const { given } = specify(project);

const born: ProjectEvent = {
  type: 'ProjectCreated',
  data: { name: 'Core', description: 'of it all', settings: DEFAULT_PROJECT_SETTINGS },
};
const gone: ProjectEvent = { type: 'ProjectDeleted', data: { name: 'Core' } };
const create = (name: string, input: object = {}) => ({ type: 'CreateProject', data: { name, ...input } }) as const;
const update = (changes: object) => ({ type: 'UpdateProject', data: { changes } }) as const;
const tags = (...bindings: readonly (readonly [key: string, value: string])[]) =>
  bindings.map(([key, value]) => ({ key, value }));
const bind = (bindings: readonly Tag[], mode: BindingMode = 'adding') =>
  ({ type: 'BindProjectTags', data: { bindings, mode } }) as const;
const bound = (key: string, from: string | null, to: string): ProjectEvent => ({
  type: 'ProjectTagBound',
  data: { key, from, to },
});
const unbound = (key: string, from: string): ProjectEvent => ({ type: 'ProjectTagUnbound', data: { key, from } });
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

  it.each([' Core', 'Core ', ' '.repeat(3) + 'x'])('has no spaces at the ends of its name: %j', (name) => {
    given().when(create(name)).refuses('unprocessable', 'between them, spaces');
  });

  it('refuses an auto-destroy duration that is none', () => {
    const autoDestroyActivityDuration = '3w';
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

  describe('with defaults of its own', () => {
    const agent = { defaultExecutionMode: 'agent', defaultAgentPoolId: 'apool-1' } as const;
    const withAgents: ProjectEvent = { type: 'ProjectUpdated', data: { changes: agent } };
    const followed: ProjectEvent = {
      type: 'ProjectUpdated',
      data: { changes: { defaultExecutionMode: null, defaultAgentPoolId: null } },
    };

    it('names a pool for the agent mode, and for no other', () => {
      given(born)
        .when(update({ defaultExecutionMode: 'agent' }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
      given(born)
        .when(update({ defaultAgentPoolId: 'apool-1' }))
        .refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      given()
        .when(create('Core', { ...agent, defaultExecutionMode: 'local' }))
        .refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      given(born).when(update(agent)).yields(withAgents);
    });

    it('leaves the pool with the mode', () => {
      given(born, withAgents)
        .when(update({ defaultExecutionMode: 'remote' }))
        .yields({
          type: 'ProjectUpdated',
          data: { changes: { defaultExecutionMode: 'remote', defaultAgentPoolId: null } },
        });
      given(born, withAgents)
        .when(update({ defaultExecutionMode: null }))
        .yields(followed);
    });

    it('follows the organization again, whatever else the request names', () => {
      given(born, withAgents)
        .when(update({ follows: true }))
        .yields(followed);
      given(born, withAgents)
        .when(update({ follows: true, defaultExecutionMode: 'remote' }))
        .yields(followed);
      given()
        .when(create('Core', { follows: true, defaultExecutionMode: 'remote', description: 'of it all' }))
        .yields(born);
    });

    it('says which where it follows no longer', () => {
      given(born)
        .when(update({ follows: false }))
        .refuses('unprocessable', 'Default execution mode must be given');
      given(born, withAgents)
        .when(update({ follows: false }))
        .yields();
      given(born)
        .when(update({ follows: false, defaultExecutionMode: 'local' }))
        .yields({ type: 'ProjectUpdated', data: { changes: { defaultExecutionMode: 'local' } } });
    });
  });

  it('is deleted when it is empty', () => given(born).when(remove(false, 0)).yields(gone));

  it('stays while it holds workspaces', () => {
    given(born).when(remove(false, 2)).refuses('unprocessable', 'still holds 2 workspaces');
    given(born).when(remove(false, 1)).refuses('unprocessable', 'still holds 1 workspace:');
  });

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

describe('what a project binds', () => {
  const env = bound('env', null, 'prod');

  it('may come with it, each key by itself', () =>
    given()
      .when(create('Core', { bindings: tags(['env', 'prod'], ['team', '']) }))
      .yields({ ...born, data: { ...born.data, description: null } } as ProjectEvent, env, bound('team', null, '')));

  it('is added to, or overwritten by key', () =>
    given(born, env)
      .when(bind(tags(['team', 'core'], ['env', 'test'])))
      .yields(bound('team', null, 'core'), bound('env', 'prod', 'test')));

  it('is replaced as a whole, cleared, or left alone', () => {
    given(born, env)
      .when(bind(tags(['team', 'core']), 'replacing'))
      .yields(unbound('env', 'prod'), bound('team', null, 'core'));
    given(born, env)
      .when({ type: 'UpdateProject', data: { changes: { name: 'Other' }, bindings: [] } })
      .yields({ type: 'ProjectUpdated', data: { changes: { name: 'Other' } } }, unbound('env', 'prod'));
    given(born, env).when(update({})).yields();
    given(born, env)
      .when(bind(tags(['env', 'prod']), 'replacing'))
      .yields();
  });

  it('is ten keys at most', () => {
    const ten = Array.from({ length: 10 }, (_, index): Tag => ({ key: `k${index}`, value: '' }));
    const most = 'cannot exceed 10 bindings per resource';
    given(born, env).when(bind(ten)).refuses('unprocessable', most, '/data');
    given(born, env)
      .when(bind(ten, 'replacing'))
      .yields(unbound('env', 'prod'), ...ten.map(({ key }) => bound(key, null, '')));
  });

  it('is nothing once it is deleted', () =>
    given(born, env, gone)
      .when(bind(tags(['env', 'test'])))
      .refuses('not-found', 'Not found'));
});
