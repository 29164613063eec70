import { expect, it } from '@jest/globals';
import { compileStatement } from '#platform/kernel';
import { defineAttributes, flag } from './attribute-table.js';
import { selectStoredAttributes } from './stored-attributes.js';

it('selects the column while no attribute was added', () => {
  const attributes = defineAttributes({ isLit: flag(false) });
  expect(compileStatement(selectStoredAttributes(attributes, 'l.settings')).text).toBe('l.settings');
});

it('selects the initial values of added attributes for rows that lack them', () => {
  const attributes = defineAttributes({ isLit: flag(false), isDimmed: { ...flag(true), since: 2 } });
  expect(compileStatement(selectStoredAttributes(attributes, 'l.settings'))).toEqual({
    text: '($1::jsonb || l.settings)',
    values: ['{"isDimmed":true}'],
  });
});
