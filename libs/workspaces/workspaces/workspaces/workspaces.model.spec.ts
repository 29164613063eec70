import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  makeAgentPool,
  makeOrganization,
  makeProject,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let project: string;
/** Two pools: one for the workspace, one for its project. */
let pools: readonly [own: string, followed: string];

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  project = await makeProject(server, 'acme', 'Followed');
  pools = [await makeAgentPool(server, 'acme', 'own'), await makeAgentPool(server, 'acme', 'followed')];
});

afterAll(() => server.close());

/** Attributes that the workspace and its project set themselves; null if they inherit the value. */
type Model = {
  plain: Record<string, unknown>;
  ownMode: string | null;
  projectMode: string | null;
  duration: string | null;
  time: string | null;
  inherits: boolean;
  projectDuration: string | null;
};

const newModel = (): Model => ({
  plain: {
    'auto-apply': false,
    'queue-all-runs': false,
    'speculative-enabled': true,
    description: null,
    'working-directory': null,
    'terraform-version': '1.5.7',
    'trigger-patterns': [],
    'trigger-prefixes': [],
  },
  ownMode: null,
  projectMode: null,
  duration: null,
  time: null,
  inherits: true,
  projectDuration: null,
});

/** Returns the attributes that the document must have. */
const expectedAttributes = ({
  plain,
  ownMode,
  projectMode,
  duration,
  time,
  inherits,
  projectDuration,
}: Model): object => {
  const mode = ownMode ?? projectMode ?? 'remote';
  const pool = pools[ownMode === null ? 1 : 0];
  return {
    attributes: {
      ...plain,
      'iac-version': plain['terraform-version'],
      'execution-mode': mode,
      operations: mode !== 'local',
      'setting-overwrites': { 'execution-mode': ownMode !== null, 'agent-pool': ownMode !== null },
      'auto-destroy-activity-duration': inherits ? projectDuration : duration,
      'auto-destroy-at': time,
      'inherits-project-auto-destroy': inherits,
    },
    relationships: { 'agent-pool': { data: mode === 'agent' ? { type: 'agent-pools', id: pool } : null } },
  };
};

const MODES = ['remote', 'local', 'agent'] as const;
const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined });
const words = fc.constantFrom(null, 'net', 'lib');
const duration = fc.constantFrom(null, '14d', '2h');
const globs = fc.constantFrom(null, [], ['a'], ['a', 'b']);

/** Attributes of an update, by the names of the API. Absent attributes stay, null clears. */
const plainPatch = fc
  .record(
    {
      'auto-apply': fc.boolean(),
      'queue-all-runs': fc.boolean(),
      'speculative-enabled': fc.boolean(),
      description: words,
      'working-directory': words,
      'terraform-version': fc.constantFrom('1.5.7', '~> 1.5.0', 'latest', '>= 1.3, < 1.6'),
      'trigger-patterns': globs,
      'trigger-prefixes': globs,
    },
    { requiredKeys: [] },
  )
  .filter((patch) => !(patch['trigger-patterns']?.length && patch['trigger-prefixes']?.length));

const step = fc.oneof(
  fc.record({ type: fc.constant('plain' as const), patch: plainPatch }),
  fc.record({ type: fc.constant('mode' as const), mode: fc.option(fc.constantFrom(...MODES)), old: fc.boolean() }),
  fc.record({
    type: fc.constant('destroy' as const),
    duration: optional(duration),
    time: optional(fc.constantFrom(null, '2020-01-01T00:00:00.000Z')),
    inherits: optional(fc.boolean()),
  }),
  fc.record({
    type: fc.constant('project' as const),
    mode: fc.option(fc.constantFrom(...MODES)),
    duration: fc.constantFrom(null, '7d'),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const FOLLOW = { 'execution-mode': false, 'agent-pool': false };

/** Requests a mode; `operations` is the legacy name of two modes. */
const modePatch = (mode: (typeof MODES)[number] | null, old: boolean): object => {
  if (mode === null) return { 'setting-overwrites': FOLLOW };
  if (mode === 'agent') return { 'execution-mode': mode, 'agent-pool-id': pools[0] };
  return old ? { operations: mode === 'remote' } : { 'execution-mode': mode };
};

const withPlain = (plain: Model['plain'], patch: Record<string, unknown>): Model['plain'] => {
  const after = { ...plain, ...patch };
  for (const [one, other] of [
    ['trigger-patterns', 'trigger-prefixes'],
    ['trigger-prefixes', 'trigger-patterns'],
  ] as const) {
    after[one] ??= [];
    if ((patch[one] as readonly string[] | null | undefined)?.length) after[other] = [];
  }
  return after;
};

const withDestroy = (model: Model, request: Extract<Step, { type: 'destroy' }>): void => {
  const hadOwn = model.duration !== null || model.time !== null;
  if (request.duration !== undefined) model.duration = request.duration;
  if (request.time !== undefined) model.time = request.time;
  const hasOwn = model.duration !== null || model.time !== null;
  model.inherits = request.inherits ?? (!hasOwn && (hadOwn || model.inherits));
  if (model.inherits) [model.duration, model.time] = [null, null];
};

const update = async (id: string, attributes: object) =>
  expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes)), 200).body.data;

const updateProject = async (mode: (typeof MODES)[number] | null, idle: string | null): Promise<void> => {
  const modeAttributes =
    mode === null
      ? { 'setting-overwrites': { 'default-execution-mode': false } }
      : { 'default-execution-mode': mode, ...(mode === 'agent' ? { 'default-agent-pool-id': pools[1] } : {}) };
  const attributes = { ...modeAttributes, 'auto-destroy-activity-duration': idle };
  expectStatus(await server.patch(`/api/v2/projects/${project}`, resource('projects', attributes)), 200);
};

/** Applies the step to the server and to the model. */
const take = async (id: string, model: Model, next: Step): Promise<void> => {
  switch (next.type) {
    case 'plain':
      model.plain = withPlain(model.plain, next.patch);
      await update(id, next.patch);
      return;
    case 'mode':
      model.ownMode = next.mode;
      await update(id, modePatch(next.mode, next.old));
      return;
    case 'destroy':
      withDestroy(model, next);
      await update(id, {
        'auto-destroy-activity-duration': next.duration,
        'auto-destroy-at': next.time,
        'inherits-project-auto-destroy': next.inherits,
      });
      return;
    case 'project':
      [model.projectMode, model.projectDuration] = [next.mode, next.duration];
      await updateProject(next.mode, next.duration);
  }
};

let count = 0;

const createInProject = async (): Promise<string> => {
  await updateProject(null, null);
  const into = { project: { data: { type: 'projects', id: project } } };
  return makeWorkspace(server, 'acme', `ws-${(count += 1)}`, { 'terraform-version': '1.5.7' }, into);
};

const versionOf = async (id: string): Promise<unknown> =>
  (await server.database.row(sql`select version from event_store.streams where stream = ${id}`))?.['version'];

it('any sequence of updates gives the attributes of the model, and a document can be written back unchanged', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const id = await createInProject();
      const model = newModel();
      for (const next of steps) {
        await take(id, model, next);
        const read = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data;
        expect(read).toMatchObject(expectedAttributes(model));
        const version = await versionOf(id);
        // A request may not have both names of the mode.
        const { operations: _, ...attributes } = read.attributes;
        expect(await update(id, attributes)).toEqual(read);
        expect(await versionOf(id)).toBe(version);
      }
    }),
    { numRuns: 20 },
  ));
