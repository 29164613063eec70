import { describe, expect, it } from '@jest/globals';
import { toAttributes, renderDocument, linkTo, toMany, toOne } from './document.js';

describe('toAttributes', () => {
  it('converts property names to attribute names', () => {
    expect(toAttributes({ name: 'x', autoApply: true, autoApplyRunTrigger: false })).toEqual({
      name: 'x',
      'auto-apply': true,
      'auto-apply-run-trigger': false,
    });
  });

  it('keeps null, lists and the names inside of values', () => {
    const values = { vcsRepo: null, triggerPatterns: ['a'], settings: { innerName: 1 } };
    expect(toAttributes(values)).toEqual({
      'vcs-repo': null,
      'trigger-patterns': ['a'],
      settings: { innerName: 1 },
    });
  });
});

describe('a relationship', () => {
  it('is null without a link if the to-one resource is missing', () => {
    expect(toOne('projects', null, '/p')).toEqual({ data: null });
    expect(toOne('projects', undefined)).toEqual({ data: null });
    expect(toOne('projects', 'prj-1', '/p')).toEqual({
      data: { type: 'projects', id: 'prj-1' },
      links: { related: '/p' },
    });
  });

  it('is a list for several resources, and a link for resources with their own endpoint', () => {
    expect(toMany('users', ['user-1'])).toEqual({ data: [{ type: 'users', id: 'user-1' }] });
    expect(toMany('users', [])).toEqual({ data: [] });
    expect(linkTo('/there')).toEqual({ links: { related: '/there' } });
  });
});

describe('a document', () => {
  const lamp = { id: 'lamp-1', type: 'lamps' };
  const room = { id: 'room-1', type: 'rooms' };

  it('has `included` only if the request has `include`, even if nothing is included', () => {
    expect(renderDocument(lamp)).toEqual({ data: lamp });
    expect(renderDocument(lamp, [])).toEqual({ data: lamp, included: [] });
  });

  it('includes each resource once, and distinguishes equal ids of different types', () => {
    const namesake = { id: 'room-1', type: 'halls' };
    expect(renderDocument(lamp, [room, namesake, room]).included).toEqual([room, namesake]);
  });
});
