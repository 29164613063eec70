import { describe, it } from '@jest/globals';
import type { BindingMode, Tag } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_PROJECT_SETTINGS, project, type ProjectEvent } from './project.js';

const { given } = specify(project);

const created: ProjectEvent = {
  type: 'ProjectCreated',
  data: { name: 'Core', description: 'of it all', settings: DEFAULT_PROJECT_SETTINGS },
};
const deletedUntil = (recoverableUntil: string | null): ProjectEvent => ({
  type: 'ProjectDeleted',
  data: { name: 'Core', recoverableUntil },
});
const deleted = deletedUntil(null);
const recoverablyDeleted = deletedUntil('2026-02-01T00:00:00.000Z');
const recovered = (name = 'Core'): ProjectEvent => ({ type: 'ProjectRecovered', data: { name } });
const purged = (expired: boolean): ProjectEvent => ({ type: 'ProjectPurged', data: { name: 'Core', expired } });
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
  ({ type: 'DeleteProject', data: { isDefault, workspaces, recoverableUntil: null } }) as const;
const recover = (more: object = {}) =>
  ({ type: 'RecoverProject', data: { name: undefined, isPoolUsable: true, ...more } }) as const;
const purge = (expired: boolean) => ({ type: 'PurgeProject', data: { expired } }) as const;

describe('a project', () => {
  it('follows its organization by default', () =>
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

  it.each(['', '   '])('refuses a blank name: %j', (name) => {
    given().when(create(name)).refuses('unprocessable', "Name can't be blank");
    given(created).when(update({ name })).refuses('unprocessable', "Name can't be blank");
  });

  it.each(['dotted.name', 'ünïcode', 'a/b', 'tab\tbed', 'line\nbreak', 'a,b'])('refuses the name %j', (name) =>
    given().when(create(name)).refuses('unprocessable', 'Name may only contain'),
  );

  it('refuses a name that is too long', () =>
    given()
      .when(create('x'.repeat(91)))
      .refuses('unprocessable', 'Name is too long'));

  it.each([' Core', 'Core ', ' '.repeat(3) + 'x'])('refuses spaces at the ends of its name: %j', (name) => {
    given().when(create(name)).refuses('unprocessable', 'between them, spaces');
  });

  it('refuses an invalid auto-destroy duration', () => {
    const autoDestroyActivityDuration = '3w';
    given().when(create('Core', { autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format');
    given(created).when(update({ autoDestroyActivityDuration })).refuses('unprocessable', 'incorrect format');
  });

  it('records only the attributes that an update changes; null clears an attribute', () =>
    given(created)
      .when(update({ name: 'Core', description: null, autoDestroyActivityDuration: '14d' }))
      .yields({
        type: 'ProjectUpdated',
        data: { changes: { description: null, autoDestroyActivityDuration: '14d' } },
      }));

  it('compares an update with the last change', () =>
    given(created, {
      type: 'ProjectUpdated',
      data: { changes: { description: null, autoDestroyActivityDuration: '2h' } },
    })
      .when(update({ name: 'Core', description: null, autoDestroyActivityDuration: '2h' }))
      .yields());

  describe('with its own defaults', () => {
    const agent = { defaultExecutionMode: 'agent', defaultAgentPoolId: 'apool-1' } as const;
    const withAgents: ProjectEvent = { type: 'ProjectUpdated', data: { changes: agent } };
    const followed: ProjectEvent = {
      type: 'ProjectUpdated',
      data: { changes: { defaultExecutionMode: null, defaultAgentPoolId: null } },
    };

    it('requires a pool for the agent mode, and refuses one for other modes', () => {
      given(created)
        .when(update({ defaultExecutionMode: 'agent' }))
        .refuses('unprocessable', "must be specified when using 'agent' execution mode");
      given(created)
        .when(update({ defaultAgentPoolId: 'apool-1' }))
        .refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      given()
        .when(create('Core', { ...agent, defaultExecutionMode: 'local' }))
        .refuses('unprocessable', "must not be specified unless using 'agent' execution mode");
      given(created).when(update(agent)).yields(withAgents);
    });

    it('loses its pool with another mode', () => {
      given(created, withAgents)
        .when(update({ defaultExecutionMode: 'remote' }))
        .yields({
          type: 'ProjectUpdated',
          data: { changes: { defaultExecutionMode: 'remote', defaultAgentPoolId: null } },
        });
      given(created, withAgents)
        .when(update({ defaultExecutionMode: null }))
        .yields(followed);
    });

    it('follows the organization again if the request says so, whatever mode it names', () => {
      given(created, withAgents)
        .when(update({ follows: true }))
        .yields(followed);
      given(created, withAgents)
        .when(update({ follows: true, defaultExecutionMode: 'remote' }))
        .yields(followed);
      given()
        .when(create('Core', { follows: true, defaultExecutionMode: 'remote', description: 'of it all' }))
        .yields(created);
    });

    it('requires a mode if it no longer follows the organization', () => {
      given(created)
        .when(update({ follows: false }))
        .refuses('unprocessable', 'Default execution mode must be given');
      given(created, withAgents)
        .when(update({ follows: false }))
        .yields();
      given(created)
        .when(update({ follows: false, defaultExecutionMode: 'local' }))
        .yields({ type: 'ProjectUpdated', data: { changes: { defaultExecutionMode: 'local' } } });
    });
  });

  it('is deleted if it is empty', () => given(created).when(remove(false, 0)).yields(deleted));

  it('is not deleted while it contains workspaces', () => {
    given(created).when(remove(false, 2)).refuses('unprocessable', 'still holds 2 workspaces');
    given(created).when(remove(false, 1)).refuses('unprocessable', 'still holds 1 workspace:');
  });

  it('is never deleted if it is the default project', () => {
    given(created).when(remove(true, 0)).refuses('unprocessable', 'The default project cannot be deleted');
    given(created).when(remove(true, 2)).refuses('unprocessable', 'The default project cannot be deleted');
  });

  it('refuses every command after its deletion', () => {
    given(created, deleted).when(remove(false, 0)).refuses('not-found', 'Not found');
    given(created, deleted)
      .when(update({ name: 'Again' }))
      .refuses('not-found', 'Not found');
    given(created, deleted).when(create('Again')).refuses('conflict', 'Project exists already');
  });
});

describe('the tag bindings of a project', () => {
  const env = bound('env', null, 'prod');

  it('are set at its creation, with one event for each key', () =>
    given()
      .when(create('Core', { bindings: tags(['env', 'prod'], ['team', '']) }))
      .yields(
        { ...created, data: { ...created.data, description: null } } as ProjectEvent,
        env,
        bound('team', null, ''),
      ));

  it('are added, and replaced by key', () =>
    given(created, env)
      .when(bind(tags(['team', 'core'], ['env', 'test'])))
      .yields(bound('team', null, 'core'), bound('env', 'prod', 'test')));

  it('are replaced as a whole, cleared, or left unchanged', () => {
    given(created, env)
      .when(bind(tags(['team', 'core']), 'replacing'))
      .yields(unbound('env', 'prod'), bound('team', null, 'core'));
    given(created, env)
      .when({ type: 'UpdateProject', data: { changes: { name: 'Other' }, bindings: [] } })
      .yields({ type: 'ProjectUpdated', data: { changes: { name: 'Other' } } }, unbound('env', 'prod'));
    given(created, env).when(update({})).yields();
    given(created, env)
      .when(bind(tags(['env', 'prod']), 'replacing'))
      .yields();
  });

  it('have at most ten keys', () => {
    const ten = Array.from({ length: 10 }, (_, index): Tag => ({ key: `k${index}`, value: '' }));
    const most = 'cannot exceed 10 bindings per resource';
    given(created, env).when(bind(ten)).refuses('unprocessable', most, '/data');
    given(created, env)
      .when(bind(ten, 'replacing'))
      .yields(unbound('env', 'prod'), ...ten.map(({ key }) => bound(key, null, '')));
  });

  it('are refused after the deletion of the project', () =>
    given(created, env, deleted)
      .when(bind(tags(['env', 'test'])))
      .refuses('not-found', 'Not found'));
});

describe('a deleted project', () => {
  it('is recovered with the name that it had, or with another one', () => {
    given(created, recoverablyDeleted).when(recover()).yields(recovered());
    given(created, recoverablyDeleted)
      .when(recover({ name: 'Other' }))
      .yields(recovered('Other'));
    given(created, recoverablyDeleted)
      .when(recover({ name: 'a/b' }))
      .refuses('unprocessable', 'Name');
  });

  it('follows its organization if its agent pool is gone', () =>
    given(created, recoverablyDeleted)
      .when(recover({ isPoolUsable: false }))
      .yields(recovered(), {
        type: 'ProjectUpdated',
        data: { changes: { defaultExecutionMode: null, defaultAgentPoolId: null } },
      }));

  it('is recovered once, and never after a final deletion or its purge', () => {
    given(created, recoverablyDeleted, recovered()).when(recover()).refuses('conflict', 'The project is not deleted');
    given(created, deleted).when(recover()).refuses('not-found', 'Not found');
    given(created, recoverablyDeleted, purged(false)).when(recover()).refuses('not-found', 'Not found');
  });

  it('is purged once, by a person or by the job', () => {
    given(created, recoverablyDeleted).when(purge(false)).yields(purged(false));
    given(created, recoverablyDeleted, purged(false)).when(purge(true)).yields();
    given(created, recoverablyDeleted, recovered()).when(purge(true)).yields();
    given(created).when(purge(false)).refuses('conflict', 'The project is not deleted');
  });
});
