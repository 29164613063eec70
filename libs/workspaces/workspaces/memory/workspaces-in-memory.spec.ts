import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LogChange } from '#storage/event-store';
import { sql, type Projection } from '#platform/kernel';
import type { Identity } from '#api/access';
import { cacheMetrics } from '#api/document-cache';
import { DocumentDependencies } from '../../../api/document-cache/dependencies.js';
import { FixedClock } from '../../../../test/support/clocks.js';
import { DEFAULT_SETTINGS } from '../settings/settings.js';
import { WORKSPACE_DOCUMENT, type SharedWorkspaceRow } from '../workspaces/workspaces.queries.js';
import { renderWorkspace } from '../workspaces/workspaces.document.js';
import { WorkspacesInMemory } from './workspaces-in-memory.service.js';
import { renderCompact } from './workspace-shape.document.js';

const MIB = 1_024 * 1_024;
const TIME = '2026-01-01T00:00:00.000Z';
const ADMIN = {
  siteAdmin: true,
  kind: 'user',
  closedTo: new Map(),
  teams: [],
  restriction: { access: 'full', organization: null },
} as unknown as Identity;

const projection = {
  name: 'all',
  tables: WORKSPACE_DOCUMENT.tables,
  on: { WorkspaceUpdated: () => sql`select 1`, ProjectUpdated: () => sql`select 1` },
} as unknown as Projection;

const rowOf = (n: number, other: Partial<SharedWorkspaceRow> = {}): SharedWorkspaceRow => ({
  id: `ws-${String(n).padStart(16, 'x')}`,
  organization: 'org-1',
  organizationName: 'acme',
  project: `prj-${String(n % 50).padStart(16, 'x')}`,
  name: `network-production-${n}`,
  settings: { ...DEFAULT_SETTINGS, description: `Network ${n} of the region`, autoApply: n % 3 === 0 },
  executionMode: 'remote',
  agentPool: null,
  projectAutoDestroyActivityDuration: null,
  idleDestroyAt: null,
  currentAssessmentResult: null,
  lastAssessmentAt: null,
  allowForceDelete: false,
  lock: null,
  tags: [{ key: `service-${n}`, value: 'a' }],
  projectTags: [],
  currentConfigurationVersion: `cv-${String(n).padStart(16, 'x')}`,
  currentStateVersion: `sv-${String(n).padStart(16, 'x')}`,
  resourceCount: n,
  outputs: n % 4 === 0 ? [`wsout-${String(n).padStart(16, 'x')}`] : [],
  currentRun: n % 2 === 0 ? `run-${String(n).padStart(16, 'x')}` : null,
  sshKey: null,
  dataRetentionPolicy: null,
  variables: [`var-${String(n).padStart(16, 'x')}`],
  metrics: null,
  createdAt: TIME,
  updatedAt: TIME,
  latestChangeAt: TIME,
  grantsOfTeams: [],
  ...other,
});

const change = (type: string, stream: string, organization: string | null = 'org-1'): LogChange => ({
  id: 'event',
  type,
  stream,
  organization,
  workspace: null,
});

let clock: FixedClock;

const create = (maxBytes: number): WorkspacesInMemory =>
  new WorkspacesInMemory({
    maxBytes,
    dependencies: new DocumentDependencies([projection]),
    clock,
    editResource: (resource) => resource,
  });

let workspaces: WorkspacesInMemory;

const readBytes = async (): Promise<number> => (await cacheMetrics.resourceBytes.get()).values[0]?.value ?? 0;

beforeEach(() => {
  clock = new FixedClock();
  workspaces = create(MIB);
});

describe('WorkspacesInMemory', () => {
  it('keeps ten thousand workspaces in the part of 16 MiB that is for them', () => {
    workspaces = create(Math.floor(16 * MIB * 0.75 * 0.8));
    for (let n = 0; n < 10_000; n += 1) workspaces.keep(rowOf(n));
    expect(Array.from({ length: 10_000 }, (_, n) => workspaces.find(rowOf(n).id)).filter(Boolean)).toHaveLength(10_000);
  });

  it('drops the least recently used workspaces beyond its memory, also from the names', () => {
    workspaces = create(20_000);
    for (let n = 0; n < 100; n += 1) workspaces.keep(rowOf(n));
    expect([workspaces.find(rowOf(0).id), workspaces.findByName('acme', rowOf(0).name)]).toEqual([null, null]);
    expect(workspaces.findByName('acme', rowOf(99).name)?.id).toBe(rowOf(99).id);
  });

  it('counts what workspaces have in common from the first one until the last one is dropped', async () => {
    const other = rowOf(2, { id: rowOf(4).id, name: rowOf(4).name });
    workspaces.keep(rowOf(2));
    const one = await readBytes();
    workspaces.keep(rowOf(2));
    expect(await readBytes()).toBe(one);
    workspaces.keep(other);
    workspaces.onChanges([change('WorkspaceUpdated', rowOf(2).id)]);
    expect(await readBytes()).toBe(one);
    workspaces.onChanges([change('WorkspaceUpdated', other.id)]);
    expect(await readBytes()).toBe(0);
  });

  it('does not exceed its memory with workspaces that have little in common', async () => {
    workspaces = create(50_000);
    for (let n = 0; n < 30; n += 1) {
      workspaces.keep(rowOf(n, { organization: `org-${n}`, organizationName: `acme-${n}` }));
      expect(await readBytes()).toBeLessThanOrEqual(50_000);
      expect(workspaces.find(rowOf(n).id)).not.toBeNull();
    }
  });

  it.each([
    ['without values', { currentRun: null, currentConfigurationVersion: null, resourceCount: 0, tags: [] }],
    ['with quotes', { settings: { ...DEFAULT_SETTINGS, description: '"\\u0000" \n 日本' } }],
    [
      'with a lock',
      { lock: { holder: { type: 'users', id: 'user-1', name: 'ada' }, reason: 'a "b"', at: TIME, expiresAt: TIME } },
    ],
  ] as const)('renders a workspace %s as the handler does', (_, other) => {
    const row = rowOf(1, other as Partial<SharedWorkspaceRow>);
    workspaces.keep(rowOf(2));
    workspaces.keep(row);
    const entry = workspaces.find(row.id);
    expect(entry && renderCompact(entry, ADMIN)).toBe(JSON.stringify(renderWorkspace({ ...row, grants: [] }, ADMIN)));
  });

  it.each([
    ['its own', change('WorkspaceUpdated', rowOf(1).id), [false, true, true]],
    ['of its organization', change('ProjectUpdated', 'prj-1'), [false, false, true]],
    ['of all organizations', change('ProjectUpdated', 'prj-1', null), [false, false, false]],
    ['of another kind', change('TeamCreated', 'team-1'), [true, true, true]],
  ] as const)('drops workspaces at an event: %s', (_, event, remaining) => {
    const rows = [rowOf(1), rowOf(2), rowOf(3, { organization: 'org-2', organizationName: 'other' })];
    for (const row of rows) workspaces.keep(row);
    workspaces.onChanges([event]);
    expect(rows.map(({ id }) => workspaces.find(id) !== null)).toEqual(remaining);
    for (const row of rows) workspaces.keep(row);
    expect(rows.every(({ id }) => workspaces.find(id) !== null)).toBe(true);
  });

  it('drops a workspace after ten minutes', () => {
    workspaces.keep(rowOf(1));
    clock.pass({ minutes: 11 });
    expect(workspaces.find(rowOf(1).id)).toBeNull();
  });
});
