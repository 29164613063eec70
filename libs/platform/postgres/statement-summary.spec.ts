import { expect, it } from '@jest/globals';
import { summarizeStatement } from './statement-summary.js';

it.each([
  ['select version, state from event_store.streams where stream = $1', 'SELECT event_store.streams'],
  ['select event_store.append($1, $2)', 'SELECT event_store.append'],
  ['\n  insert into workspaces as w (id) values ($1)', 'INSERT workspaces'],
  ['update lamps set lit_by = $1 where id = $2', 'UPDATE lamps'],
  ['delete from lamps', 'DELETE lamps'],
  ['select 1', 'SELECT'],
  ['listen news', 'STATEMENT'],
])('summarizes %j as %s', (text, summary) => {
  expect(summarizeStatement(text)).toBe(summary);
});
