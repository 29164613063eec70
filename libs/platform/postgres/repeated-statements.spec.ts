import { expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { listRepeated } from './repeated-statements.js';

const OUTDATED = { code: '0A000', message: 'cached plan must not change result type' };
const MISSING = { code: '26000', message: 'prepared statement "a" does not exist' };

it.each([
  ['without names behind a pooler if a plan is outdated', OUTDATED, true, false],
  ['with names on a connection to Postgres', OUTDATED, false, true],
  ['with names if one is missing', MISSING, true, true],
])('sends statements again %s', (_, error, isPooled, isPrepared) => {
  const repeated = listRepeated([sql`select 1`, sql`select 2`], error, isPooled);
  expect(repeated.map((statement) => statement.isPrepared)).toEqual([isPrepared, isPrepared]);
});
