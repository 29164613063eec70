import { describe, expect, it } from '@jest/globals';
import { checkAutoDestroyDuration, checkName, PATH_NAME_RULE } from './checks.js';

describe('checkName', () => {
  const rule = { ...PATH_NAME_RULE, least: 3, most: 5 };

  it.each(['abc', 'a-B_9'])('accepts %s', (name) => expect(() => checkName(name, rule)).not.toThrow());

  it.each([
    ['', "Name can't be blank"],
    ['  ', "Name can't be blank"],
    ['a b', 'Name may only contain letters, numbers, dashes and underscores'],
    ['abc\n', 'Name may only contain'],
    ['ab', 'Name is too short (at least 3 characters)'],
    ['abcdef', 'Name is too long (at most 5 characters)'],
  ])('refuses %j', (name, text) => expect(() => checkName(name, rule)).toThrow(text));
});

describe('checkName with another rule', () => {
  it('names the attribute as the API does', () =>
    expect(() => checkName('', { attribute: 'user-name', most: 5 })).toThrow("User name can't be blank"));

  it('accepts any text if the rule has no pattern', () => expect(() => checkName('a b/é', { most: 5 })).not.toThrow());
});

describe('checkAutoDestroyDuration', () => {
  it.each(['1h', '14d', '9999d', null, undefined, ''])('accepts %j', (duration) =>
    expect(() => checkAutoDestroyDuration(duration)).not.toThrow(),
  );

  it.each(['0d', '10000d', '3w', 'd', '14', '1d\n', '-1d'])('refuses %j', (duration) =>
    expect(() => checkAutoDestroyDuration(duration)).toThrow('incorrect format'),
  );
});
