import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Projection } from '#platform/kernel';
import { DocumentDependencies } from '../../../api/document-cache/dependencies.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import type { SharedWorkspaceRow } from '../workspaces/workspaces.queries.js';
import { NamesInMemory } from './names-in-memory.service.js';
import { SortedNames } from './sorted-names.js';

const projections = [
  { name: 'workspaces', tables: ['workspaces'], on: { WorkspaceUpdated: () => sql`select 1` } },
  { name: 'organizations', tables: ['organizations'], on: { OrganizationUpdated: () => sql`select 1` } },
] as unknown as readonly Projection[];

const workspaceOf = (n: number): string => `ws-${String(n).padStart(16, 'x')}`;

let read: string[];
let names: NamesInMemory;

const create = (maxBytes: number): NamesInMemory =>
  new NamesInMemory({
    maxBytes,
    dependencies: new DocumentDependencies(projections),
    clock: new FixedClock(),
    findOrganization: (name) => Promise.resolve(name === 'missing' ? null : `org-${name}`),
    read: (name) => {
      read.push(name);
      const sorted = SortedNames.create(['app'], [workspaceOf(0)]);
      return Promise.resolve(sorted && { organization: `org-${name}`, names: sorted });
    },
  });

const all = (): boolean => true;
const nothing = (): boolean => false;

/** Requests lists one after another, so that what one causes has ended before the next. */
const list = async (count: number, name: string, readsAll: (organization: string) => boolean): Promise<void> => {
  for (let n = 0; n < count; n += 1) {
    names.find(name, readsAll);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** Creates workspaces in an organization whose names are in memory. */
const add = (organization: string, first: number, count: number): void => {
  const ids = Array.from({ length: count }, (_, n) => workspaceOf(first + n));
  names.onChanges(
    ids.map((stream) => ({ id: 'event', type: 'WorkspaceUpdated', stream, organization, workspace: null })),
  );
  const rows = ids.map((id) => [id, { id, organization, name: `network-${id}` } as SharedWorkspaceRow] as const);
  names.onRead(ids, new Map(rows));
};

beforeEach(() => {
  read = [];
  names = create(100_000);
});

describe('NamesInMemory', () => {
  it('reads the names after twenty lists of callers that may read all workspaces', async () => {
    await list(19, 'acme', all);
    expect(read).toEqual([]);
    await list(1, 'acme', all);
    expect([read, names.find('acme', all)?.names.count]).toEqual([['acme'], 1]);
  });

  it('reads nothing for callers that may not read all workspaces, whose lists do not count', async () => {
    await list(100, 'acme', nothing);
    await list(19, 'acme', (organization) => organization === 'org-acme');
    expect(read).toEqual([]);
    await list(100, 'acme', nothing);
    expect(read).toEqual([]);
    await list(1, 'acme', all);
    expect(read).toEqual(['acme']);
  });

  it('reads nothing for an organization that does not exist', async () => {
    await list(100, 'missing', all);
    expect(read).toEqual([]);
  });

  it('drops the least recently used names when others grow', async () => {
    names = create(3_000);
    await list(20, 'acme', all);
    await list(20, 'other', all);
    add('org-other', 1, 20);
    expect(names.find('acme', all)?.names.count).toBe(1);
    add('org-other', 100, 36);
    expect([names.find('acme', all), names.find('other', all)?.names.count]).toEqual([null, 57]);
  });

  it('drops names that outgrow the memory', async () => {
    names = create(3_000);
    await list(20, 'acme', all);
    add('org-acme', 1, 90);
    expect(names.find('acme', all)).toBeNull();
    add('org-acme', 200, 1);
    expect(names.find('acme', all)).toBeNull();
  });
});
