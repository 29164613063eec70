import { describe, expect, it } from '@jest/globals';
import { toAttributes, renderDocument, linkTo, toMany, toOne } from './document.js';

describe('attributes', () => {
  it('have the API’s names outside and ours inside', () => {
    expect(toAttributes({ name: 'x', autoApply: true, autoApplyRunTrigger: false })).toEqual({
      name: 'x',
      'auto-apply': true,
      'auto-apply-run-trigger': false,
    });
  });

  it('keep null, lists, and what is inside of values', () => {
    const values = { vcsRepo: null, triggerPatterns: ['a'], settings: { innerName: 1 } };
    expect(toAttributes(values)).toEqual({
      'vcs-repo': null,
      'trigger-patterns': ['a'],
      settings: { innerName: 1 },
    });
  });
});

describe('a relationship', () => {
  it('to one is null where there is none, and then has no link', () => {
    expect(toOne('projects', null, '/p')).toEqual({ data: null });
    expect(toOne('projects', undefined)).toEqual({ data: null });
    expect(toOne('projects', 'prj-1', '/p')).toEqual({
      data: { type: 'projects', id: 'prj-1' },
      links: { related: '/p' },
    });
  });

  it('to many is a list, and to somewhere else a link', () => {
    expect(toMany('users', ['user-1'])).toEqual({ data: [{ type: 'users', id: 'user-1' }] });
    expect(toMany('users', [])).toEqual({ data: [] });
    expect(linkTo('/there')).toEqual({ links: { related: '/there' } });
  });
});

describe('a document', () => {
  const lamp = { id: 'lamp-1', type: 'lamps' };
  const room = { id: 'room-1', type: 'rooms' };

  it('has included resources only where they were asked for, even if there is none', () => {
    expect(renderDocument(lamp)).toEqual({ data: lamp });
    expect(renderDocument(lamp, [])).toEqual({ data: lamp, included: [] });
  });

  it('includes each resource once; the same id of another type is another resource', () => {
    const namesake = { id: 'room-1', type: 'halls' };
    expect(renderDocument(lamp, [room, namesake, room]).included).toEqual([room, namesake]);
  });
});
