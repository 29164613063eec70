import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { savedView, type SavedViewCommand, type SavedViewEvent } from './saved-view.js';

const { given } = specify(savedView);

const CONTENT = { name: 'Production', query: 'tags=env%3Aprod&sort=-name', shared: false };
const created: SavedViewEvent = { type: 'SavedViewCreated', data: { ...CONTENT, createdBy: 'user-1' } };
const deleted: SavedViewEvent = { type: 'SavedViewDeleted', data: { name: 'Production', shared: false } };
const create = (content: object = {}): SavedViewCommand => ({
  type: 'CreateSavedView',
  data: { ...CONTENT, ...content, createdBy: 'user-1' },
});
const update = (data: object): SavedViewCommand => ({ type: 'UpdateSavedView', data });
const remove: SavedViewCommand = { type: 'DeleteSavedView', data: {} };

describe('a saved view', () => {
  it('is created once', () => {
    given().when(create()).yields(created);
    given(created).when(create()).refuses('conflict', 'Saved view exists already');
  });

  it.each([
    [{ name: ' ' }, "Name can't be blank", '/data/attributes/name'],
    [{ name: 'n'.repeat(101) }, 'Name is too long (at most 100 characters)', '/data/attributes/name'],
    [{ query: 'q'.repeat(2001) }, 'Query is too long (at most 2000 characters)', '/data/attributes/query'],
    [{ query: 'name=a b' }, /^Query must be the query of an address/, '/data/attributes/query'],
    [{ query: '?name=a' }, /^Query must be the query of an address/, '/data/attributes/query'],
  ])('refuses %j', (content, detail, pointer) => {
    for (const [history, command] of [
      [[], create(content)],
      [[created], update(content)],
    ] as const) {
      given(...history)
        .when(command)
        .refuses('unprocessable', detail, pointer);
    }
  });

  it('accepts the longest name and query, and an empty query', () => {
    const longest = { name: 'n'.repeat(100), query: 'q'.repeat(2000) };
    given()
      .when(create(longest))
      .yields({ ...created, data: { ...created.data, ...longest } } as SavedViewEvent);
    given(created)
      .when(update({ query: '' }))
      .yields({ type: 'SavedViewUpdated', data: { ...CONTENT, query: '' } });
  });

  it('changes what the request names, and nothing if it is the same', () => {
    given(created)
      .when(update({ shared: true }))
      .yields({ type: 'SavedViewUpdated', data: { ...CONTENT, shared: true } });
    given(created)
      .when(update({ name: 'Production' }))
      .yields();
  });

  it('is deleted once', () => {
    given(created).when(remove).yields(deleted);
    given(created, deleted).when(remove).refuses('not-found', '');
    given(created, deleted)
      .when(update({ name: 'x' }))
      .refuses('not-found', '');
  });
});
