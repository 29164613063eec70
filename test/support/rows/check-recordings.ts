import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { RecordedRows } from './recorder.js';
import { checkRows, loadSources, type RowCheck } from './row-types.js';
import { addTo } from './shape.js';

/**
 * Columns that their table lets be null, in statements whose condition excludes null. Reads of past times take
 * `organization` from the first version of each workspace, which always has it.
 */
const NEVER_NULL: Readonly<Record<string, readonly string[]>> = {
  'libs/activity/history/workspace-changes/workspace-changes.queries.ts': ['organization'],
  'libs/activity/history/workspace-locks/workspace-locks.queries.ts': ['organization'],
  'libs/registry/registry/release-files/release-files.queries.ts': ['size'],
  'libs/registry/modules/module-files.queries.ts': ['archive', 'size', 'sha256'],
  'libs/operations/retention/retention.queries.ts': ['at', 'days', 'unusedSince'],
  'libs/organizations/tag-bindings/tag-bindings.queries.ts': ['organization'],
  'libs/runs/commits/commit-statuses.queries.ts': ['token'],
  'libs/runs/commits/followed-repositories.queries.ts': ['identifier', 'token'],
  'libs/runs/commits/pull-request-comments.queries.ts': ['token'],
  'libs/runs/commits/untriggered-plans.queries.ts': ['token'],
  'libs/workspaces/workspaces/lists/workspace-lists.queries.ts': ['organization'],
  'libs/workspaces/workspaces/workspaces/workspaces.queries.ts': ['organization'],
};

const isNeverNull = (callSite: string, column: string): boolean =>
  NEVER_NULL[callSite.replace(/:.*/, '')]?.includes(column) === true;

/** Adds null to the values of each column that its table lets be null, whether or not a test had a row with null. */
export const addNullableColumns = async (recorded: Readonly<RecordedRows>, url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly column: string }>(`
      select attrelid || '.' || attnum as "column" from pg_attribute join pg_class c on c.oid = attrelid
       where relkind in ('r', 'p') and attnum > 0 and not attnotnull`);
    const nullable = new Set(rows.map(({ column }) => column));
    for (const [callSite, { members }] of Object.entries(recorded))
      for (const [name, { columns, kinds }] of Object.entries(members))
        if (!isNeverNull(callSite, name) && columns.some((column) => nullable.has(column))) addTo(kinds, 'null');
  } finally {
    await client.end();
  }
};

const isProduction = (file: string): boolean => /^(?:apps|libs)\//.test(file) && !/[./]spec\.ts$/.test(file);

/** Compares the rows that the workers of this run have recorded with the types in the code. */
export const checkRecordings = async (): Promise<RowCheck> => {
  const recordings: RecordedRows[] = [];
  for (let worker = 1; process.env[`CADASTRE_TEST_POSTGRES_${worker}`] !== undefined; worker += 1) {
    const file = join(process.env['CADASTRE_TEST_BUILD'] ?? '', `rows-${worker}.json`);
    // A worker may have had no file to run, or none that reads rows.
    if (!existsSync(file)) continue;
    const recorded = JSON.parse(await readFile(file, 'utf8')) as RecordedRows;
    await addNullableColumns(recorded, migratedUrl(process.env[`CADASTRE_TEST_POSTGRES_${worker}`] ?? ''));
    recordings.push(recorded);
  }
  return checkRows(loadSources(isProduction), isProduction, recordings);
};

const migratedUrl = (server: string): string => Object.assign(new URL(server), { pathname: '/migrated' }).toString();
