import { beforeAll, describe, expect, it } from '@jest/globals';
import { canReach, MODULE_FOLDERS, readGroups, readModuleGraph } from '../support/modules.js';
import { MOVED_TABLES, PUBLISHED_TABLES, UPWARD_READS } from './table-rules.js';
import { findOwners, listForeignReads, listTables, type TableRead } from './tables.js';

let reads: readonly TableRead[];
let groups: readonly string[];
/** The modules that each module imports, or whose tables it reads by the rules. */
let below: ReadonlyMap<string, ReadonlySet<string>>;

const isDeclared = ({ reader, owner, table }: TableRead): boolean =>
  UPWARD_READS.some((read) => read.reader === reader && read.owner === owner && read.tables.includes(table));

beforeAll(async () => {
  reads = await listForeignReads(await findOwners(MOVED_TABLES));
  groups = await readGroups();
  const lawful = Map.groupBy(
    reads.filter((read) => !isDeclared(read)),
    ({ reader }) => reader,
  );
  below = new Map(
    [...readModuleGraph()].map(([module, imported]) => [
      module,
      new Set([...imported, ...(lawful.get(module) ?? []).map(({ owner }) => owner)]),
    ]),
  );
});

const groupOf = (module: string): number => groups.indexOf(MODULE_FOLDERS.get(module)?.split('/')[1] ?? '');

const isUpward = ({ reader, owner }: TableRead): boolean =>
  groupOf(owner) > groupOf(reader) || (groupOf(owner) === groupOf(reader) && canReach(below, owner, reader));

const listViolations = (checked: readonly TableRead[]): string[] =>
  checked.flatMap((read) => {
    const { reader, owner, table, file } = read;
    if (isUpward(read))
      return isDeclared(read) ? [] : [`${file}: ${reader} must not read ${table} of ${owner}, which is not below it`];
    return PUBLISHED_TABLES[owner]?.includes(table) ? [] : [`${file}: ${owner} does not publish ${table}`];
  });

describe('a module', () => {
  it('reads only tables of its own, and tables that modules below it publish', () => {
    expect(reads.length).toBeGreaterThan(50);
    expect(listViolations(reads)).toEqual([]);
  });

  it('publishes only tables that other modules read', () => {
    const published = Object.entries(PUBLISHED_TABLES).flatMap(([owner, tables]) =>
      tables.map((table) => ({ owner, table })),
    );
    const isRead = ({ owner, table }: { readonly owner: string; readonly table: string }): boolean =>
      reads.some((read) => read.owner === owner && read.table === table && !isUpward(read));
    expect(published.filter((one) => !isRead(one))).toEqual([]);
  });

  it('has no exception that it does not need', () => {
    const declared = UPWARD_READS.flatMap(({ tables, ...pair }) => tables.map((table) => ({ ...pair, table })));
    const isNeeded = ({ reader, owner, table }: Omit<TableRead, 'file'>): boolean =>
      reads.some((read) => read.reader === reader && read.owner === owner && read.table === table && isUpward(read));
    expect(declared.filter((one) => !isNeeded(one))).toEqual([]);
  });
});

describe('the check', () => {
  it('finds tables after keywords, after commas and alone', () => {
    const source = `
      const one = sql\`select runs from views.workspaces w join (projects p join teams t on true) on true, \${x} -- from users
        where exists (select from variables) and w.name = any (array(select key from workspace_tags t, project_tags u))\`;
      const two = sql.raw('state_versions');
      const three = sql.raw('agents a');
      const five = sql\`delete from agents a using views.comments c, run_events as e, ssh_keys where a.id = e.id\`;
      const four = \`not SQL: from tags\`;`;
    expect([...listTables('planted.ts', source)].filter((name) => name !== '$1').sort()).toEqual([
      'agents',
      'comments',
      'project_tags',
      'projects',
      'run_events',
      'ssh_keys',
      'state_versions',
      'teams',
      'variables',
      'workspace_tags',
      'workspaces',
    ]);
  });

  it('reports a table that is not published, and a table of a higher module', () => {
    const planted = [
      { reader: 'state', owner: 'people', table: 'sessions', file: 'a.ts' },
      { reader: 'organizations', owner: 'runs', table: 'runs', file: 'b.ts' },
      { reader: 'runs', owner: 'workspaces', table: 'workspaces', file: 'c.ts' },
    ];
    expect(listViolations(planted)).toEqual([
      'a.ts: people does not publish sessions',
      'b.ts: organizations must not read runs of runs, which is not below it',
    ]);
  });
});
