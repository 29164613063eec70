import { describe, expect, it } from '@jest/globals';
import type { BindingMode, Tag } from '#platform/kernel';
import { specify } from '#platform/kernel/spec';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { workspace, type WorkspaceEvent } from '../workspaces/workspace.js';

const { given } = specify(workspace);

const flat = (key: string): Tag => ({ key, value: null });
const created: WorkspaceEvent = {
  type: 'WorkspaceCreated',
  data: {
    project: 'prj-1',
    name: 'one',
    settings: DEFAULT_SETTINGS,
    tags: [flat('flat'), { key: 'env', value: 'prod' }],
  },
};

/** Returns bindings in order. */
const pairs = (...bindings: readonly (readonly [key: string, value: string])[]): readonly Tag[] =>
  bindings.map(([key, value]) => ({ key, value }));
const numbered = (from: number, to: number): readonly Tag[] =>
  Array.from({ length: to - from }, (_, index) => ({ key: `k${from + index}`, value: 'v' }));

const bound = (key: string, from: string | null, to: string): WorkspaceEvent => ({
  type: 'WorkspaceTagBound',
  data: { key, from, to },
});
const unbound = (key: string, from: string): WorkspaceEvent => ({ type: 'WorkspaceTagUnbound', data: { key, from } });
const added = (name: string): WorkspaceEvent => ({ type: 'WorkspaceTagAdded', data: { name } });
const removed = (name: string): WorkspaceEvent => ({ type: 'WorkspaceTagRemoved', data: { name } });

/** Keys that the project binds, and that workspaces may not override. */
const fixing = (...keys: readonly string[]) => ({
  fixed: keys.map((key) => ({ key, project: 'Platform', reservedTagKey: `rtk-${key}` })),
});

const create = (names: readonly string[], bindings: readonly Tag[], context: object = {}) =>
  ({
    type: 'CreateWorkspace',
    data: { project: 'prj-1', name: 'one', settings: {}, names, bindings, ...context },
  }) as const;
const update = (more: object) => ({ type: 'UpdateWorkspace', data: { changes: {}, ...more } }) as const;
const replace = (bindings: readonly Tag[], context: object = {}) => update({ bindings, ...context });
const bind = (bindings: readonly Tag[], context: object = {}, mode: BindingMode = 'adding') =>
  ({ type: 'BindTags', data: { bindings, mode, ...context } }) as const;
const add = (names: readonly string[], context: object = {}) =>
  ({ type: 'AddTags', data: { names, ...context } }) as const;

const tagsAfter = (...events: readonly WorkspaceEvent[]): readonly Tag[] => {
  const { state } = given(created, ...events);
  return state.status === 'active' ? state.tags : [];
};

const OWN = '/data/relationships/tag-bindings/data';
const PROJECT = '/data/relationships/project/data/id';
const LOCKED = /^Key env is bound by project Platform and reserved with overrides disabled \(rtk-env\): /;

describe('the bindings of a workspace', () => {
  it('are created with it, each key at its first position and with its last value', () =>
    given()
      .when(create(['a'], pairs(['b', '1'], ['a', 'one'], ['b', '2'])))
      .yields({
        type: 'WorkspaceCreated',
        data: { project: 'prj-1', name: 'one', settings: DEFAULT_SETTINGS, tags: pairs(['a', 'one'], ['b', '2']) },
      }));

  it('are added or overwritten by key, with an event each that has the value before', () =>
    given(created)
      .when(bind(pairs(['team', 'core'], ['env', 'test'], ['team', 'Core '])))
      .yields(bound('team', null, 'Core '), bound('env', 'prod', 'test')));

  it('are replaced by the list of the workspace document, and flat tags stay', () => {
    const changes = [unbound('env', 'prod'), bound('team', null, 'core')];
    given(created)
      .when(replace(pairs(['team', 'core'])))
      .yields(...changes);
    given(created)
      .when(bind(pairs(['team', 'core']), {}, 'replacing'))
      .yields(...changes);
    given(created, added('fav'))
      .when(replace(pairs(['flat', '1'])))
      .yields(unbound('env', 'prod'), bound('flat', '', '1'));
  });

  it('are replaced together with the flat tags if the list names one of those without a value', () =>
    given(created, added('fav'))
      .when(replace(pairs(['flat', ''], ['new', ''])))
      .yields(unbound('env', 'prod'), removed('fav'), bound('new', null, '')));

  it('may have no value, and are removed by a replacing list that does not name them', () => {
    given(created)
      .when(bind(pairs(['new', ''])))
      .yields(bound('new', null, ''));
    given(created, bound('new', null, ''))
      .when(replace(pairs(['new', ''])))
      .yields(unbound('env', 'prod'));
    given(created, bound('new', null, ''))
      .when(replace(pairs(['env', 'prod'])))
      .yields(unbound('new', ''));
    given(created, bound('new', null, ''))
      .when(add(['new']))
      .yields();
  });

  it('leave a flat tag flat if the new workspace names it without a value, too', () =>
    given()
      .when(create(['a', 'b'], pairs(['b', ''], ['c', ''])))
      .yields({
        type: 'WorkspaceCreated',
        data: {
          project: 'prj-1',
          name: 'one',
          settings: DEFAULT_SETTINGS,
          tags: [flat('a'), flat('b'), ...pairs(['c', ''])],
        },
      }));

  it('are all removed by an empty list, and unchanged without a list', () => {
    given(created).when(replace([])).yields(unbound('env', 'prod'));
    given(created).when(update({})).yields();
    given(created).when(bind([])).yields();
  });

  it('yield nothing if the request names the present tags', () => {
    given(created)
      .when(replace(pairs(['env', 'prod'], ['flat', ''])))
      .yields();
    given(created)
      .when(replace(pairs(['env', 'prod'])))
      .yields();
    given(created)
      .when(bind(pairs(['env', 'prod'])))
      .yields();
    given(created)
      .when(bind(pairs(['flat', ''])))
      .yields();
  });

  it('keep their position when they get or lose a value, and replace a flat tag that gets a value', () => {
    given(created)
      .when(bind(pairs(['env', ''], ['flat', '1'])))
      .yields(bound('env', 'prod', ''), bound('flat', '', '1'));
    expect(tagsAfter(bound('flat', '', '1'), bound('env', 'prod', ''))).toEqual(pairs(['flat', '1'], ['env', '']));
  });

  it('keep their position when their value changes, and are last after they are removed and added again', () => {
    const team = bound('team', null, 'core');
    expect(tagsAfter(team, bound('env', 'prod', 'test'))).toEqual([
      flat('flat'),
      ...pairs(['env', 'test'], ['team', 'core']),
    ]);
    expect(tagsAfter(team, unbound('env', 'prod'), bound('env', null, 'prod'))).toEqual([
      flat('flat'),
      ...pairs(['team', 'core'], ['env', 'prod']),
    ]);
  });

  it('are limited to ten, for every kind of request', () => {
    const most = 'cannot exceed 10 bindings per resource';
    given(created)
      .when(bind(numbered(0, 9)))
      .yields(...numbered(0, 9).map(({ key }) => bound(key, null, 'v')));
    given(created)
      .when(bind(numbered(0, 10)))
      .refuses('unprocessable', most, '/data');
    given(created)
      .when(replace(numbered(0, 11)))
      .refuses('unprocessable', most, OWN);
    given(created)
      .when(replace(numbered(0, 10)))
      .yields(unbound('env', 'prod'), ...numbered(0, 10).map(({ key }) => bound(key, null, 'v')));
  });
});

describe('flat tags of a workspace', () => {
  it('are added once, with an event each', () =>
    given(created)
      .when(add(['flat', 'new', 'new']))
      .yields(added('new')));

  it('are limited to five hundred, besides its bindings', () => {
    const names = Array.from({ length: 499 }, (_, index) => `t${index}`);
    const many = names.map(added);
    given(created)
      .when(add(names))
      .yields(...many);
    given(created, ...many)
      .when(add(['one-more']))
      .refuses('unprocessable', 'cannot exceed 500 tags per workspace');
    given(created, ...many)
      .when(add(['t7', 'flat']))
      .yields();
    given(created, ...many)
      .when(bind(pairs(['one-more', ''])))
      .refuses('unprocessable', 'cannot exceed 500 tags per workspace', '/data');
    given(created, ...many)
      .when(replace(names.map((key) => ({ key, value: '' }))))
      .yields(removed('flat'), unbound('env', 'prod'));
    given()
      .when(create([...names, 'one'], pairs(['two', ''])))
      .refuses('unprocessable', 'cannot exceed 500 tags per workspace', '/data/relationships/tags/data');
  });

  it('are removed by name, however they were bound', () =>
    given(created, added('new'), bound('env', 'prod', ''))
      .when({ type: 'RemoveTags', data: { names: ['new', 'env'] } })
      .yields(removed('env'), removed('new')));
});

describe('a key that the project binds and whose overrides are disabled', () => {
  it('is refused in a new workspace, both with a value and flat', () => {
    const env = pairs(['team', 'core'], ['env', 'test']);
    given()
      .when(create([], env, fixing('env')))
      .refuses('unprocessable', LOCKED, `${OWN}/1/attributes/key`);
    given()
      .when(create([], pairs(['team', ''], ['env', '']), fixing('env')))
      .refuses('unprocessable', LOCKED, `${OWN}/1/attributes/key`);
    given()
      .when(create(['flat', 'env'], [], fixing('env')))
      .refuses('unprocessable', LOCKED, '/data/relationships/tags/data/1');
  });

  it('is refused later on', () => {
    const team = pairs(['zone', 'a'], ['team', 'core']);
    given(created)
      .when(bind(team, fixing('team')))
      .refuses('unprocessable', 'Key team', '/data/1/attributes/key');
    given(created)
      .when(replace(team, fixing('team')))
      .refuses('unprocessable', 'Key team', `${OWN}/1/attributes/key`);
    given(created)
      .when(add(['zone', 'team'], fixing('team')))
      .refuses('unprocessable', 'Key team', '/data/1');
  });

  it('is reported for each occurrence in the request', () =>
    given(created)
      .when(bind(pairs(['b', '1'], ['c', '1'], ['a', '1'], ['b', '2']), fixing('a', 'b')))
      .refuses('unprocessable', /^Key a .*; Key b /, '/data/2/attributes/key', '/data/3/attributes/key'));

  it('stays with its present value or is removed, but gets no other value', () => {
    const context = fixing('env', 'flat');
    given(created)
      .when(bind(pairs(['env', 'test']), context))
      .refuses('unprocessable', LOCKED, '/data/0/attributes/key');
    given(created)
      .when(replace(pairs(['env', 'test']), context))
      .refuses('unprocessable', LOCKED);
    given(created)
      .when(bind(pairs(['flat', '1']), context))
      .refuses('unprocessable', 'Key flat');
    given(created)
      .when(bind(pairs(['env', 'prod'], ['team', 'core']), context))
      .yields(bound('team', null, 'core'));
    given(created)
      .when(replace(pairs(['env', 'prod'], ['flat', '']), context))
      .yields();
    given(created)
      .when(add(['flat', 'env'], context))
      .yields();
    given(created).when(replace([], context)).yields(unbound('env', 'prod'));
  });

  it('is refused in a workspace that moves to that project, by either request', () => {
    const to = { project: 'prj-2', ...fixing('env') };
    given(created).when(update(to)).refuses('unprocessable', LOCKED, PROJECT);
    given(created)
      .when(update({ ...to, movedAt: '/data/4' }))
      .refuses('unprocessable', LOCKED, '/data/4');
    given(created)
      .when(update({ ...to, ...fixing('flat') }))
      .refuses('unprocessable', 'Key flat', PROJECT);
    const same = pairs(['env', 'prod']);
    given(created).when(replace(same, to)).refuses('unprocessable', LOCKED, `${OWN}/0/attributes/key`);
    given(created)
      .when(replace([], to))
      .yields({ type: 'WorkspaceMoved', data: { from: 'prj-1', to: 'prj-2' } }, unbound('env', 'prod'));
    given(created)
      .when(replace([], { ...to, ...fixing('flat') }))
      .refuses('unprocessable', 'Key flat', PROJECT);
  });

  it('does not affect a workspace that is already in the project', () =>
    given(created)
      .when(update({ project: 'prj-1', ...fixing('env') }))
      .yields());
});

describe('tags of older events that name several at a time', () => {
  it('are equal to those of events with one tag each', () =>
    expect(
      tagsAfter(
        { type: 'WorkspaceTagged', data: { tags: [flat('new'), { key: 'env', value: 'test' }] } },
        { type: 'WorkspaceUntagged', data: { keys: ['flat'] } },
      ),
    ).toEqual([...pairs(['env', 'test']), flat('new')]));

  it('are bindings without a value if their values are empty', () => {
    const { data } = created as Extract<WorkspaceEvent, { type: 'WorkspaceCreated' }>;
    const { state } = given(
      { type: 'WorkspaceCreated', data: { ...data, tags: pairs(['a', '']) } },
      { type: 'WorkspaceTagged', data: { tags: pairs(['b', '']) } },
      bound('c', null, ''),
    );
    expect(state).toMatchObject({ tags: pairs(['a', ''], ['b', ''], ['c', '']) });
  });
});
