import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { ROOT } from '../support/folders.js';
import { addNullableColumns } from '../support/rows/check-recordings.js';
import { readPlanted } from '../support/rows/planted.js';
import { getRecordedRows } from '../support/rows/recorder.js';
import { checkRows, loadSources, type RowCheck } from '../support/rows/row-types.js';

// The rows of the product are compared after the last test, by test/support/jest/row-types.ts.

const PLANTED = 'test/support/rows/planted.ts';

const LINES = readFileSync(join(ROOT, PLANTED), 'utf8').split('\n');

/** The call site of the line that contains the text. */
const findCallSite = (text: string): string => `${PLANTED}:${LINES.findIndex((line) => line.includes(text)) + 1}`;

let fresh: TestDatabase;
let check: RowCheck;

beforeAll(async () => {
  fresh = await freshDatabase();
  const database = new Database({ url: fresh.url, connections: 1, applicationName: 'planted' });
  await readPlanted(database);
  await database.close();
  const recorded = structuredClone(getRecordedRows());
  await addNullableColumns(recorded, fresh.url);
  const isPlanted = (file: string): boolean => file === PLANTED;
  check = checkRows(loadSources(isPlanted), isPlanted, [recorded]);
});

afterAll(() => fresh.drop());

it.each<[string, string, string[]]>([
  ['nothing in a type that fits', 'rows<Person>(PEOPLE);', []],
  ['a renamed column', 'Renamed>', ['name: is not in the type', 'username: is in the type, but not in the values']],
  ['a wrong type, without any row', 'WrongType>', ['age: has values of the kind number, but the type is string']],
  ['a null', 'NotNull>', ['email: has values of the kind null, but the type is string']],
  [
    'a column that its table lets be null, without any row',
    'NotNullInTable>',
    ['organization: has values of the kind null, but the type is string'],
  ],
  ['a text that is none of the literals', 'WrongText>', [`access.role: is 'guest', but the type is "owner"`]],
  ['a renamed member of JSON', 'WrongMember>', ['access.level: is in the type, but not in the values']],
  ['a column that is not in the type', 'Incomplete>', ['active: is not in the type']],
  ['nothing in a row of a list', 'rows<OwnerAlone>(sql`${list(7)}', []],
  ['nothing in the row of the owner of an empty list', 'rows<OwnerAlone>(sql`${list(1)}', []],
  [
    'a type that callers choose',
    'rows<T>(',
    ['leaves the type of its rows to callers. Name the type, or add the function to CASTS.'],
  ],
  ['a type that is inferred', 'database.rows(PEOPLE);', ['infers the type of its rows. Name the type.']],
  ['a type assertion', 'as Person', ['casts rows. Name their type where they are read, or use castRows.']],
])('finds %s', (_, text, problems) => {
  const callSite = findCallSite(text);
  const problemsAtSite = check.problems.filter((problem) => problem.startsWith(callSite));
  expect(problemsAtSite.map((problem) => problem.slice(callSite.length).replace(/^:? /, ''))).toEqual(problems);
});

it('lists the call sites whose rows no test reads', () => {
  expect(check.unseen).toEqual([findCallSite('readNothing')]);
});
