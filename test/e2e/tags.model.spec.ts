import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { moduleDefinitions } from '../../apps/modules.js';
import { deriveTagId } from '../../libs/organizations/tag-bindings/tag-bindings.document.js';
import { expectStatus, flatTags, makeOrganization, makeProject, related, resource } from '../support/seeds.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Tags by key, in order of insertion. Null is a flat tag, and an empty text is a binding without a value. */
type Tags = Map<string, string | null>;
type Workspace = { readonly id: string; readonly name: string; project: number; tags: Tags };
type Reserved = { readonly id: string; key: string; fixed: boolean };

/** The expected state of an organization. */
type Model = {
  readonly name: string;
  readonly organization: string;
  readonly projects: readonly { readonly id: string; readonly tags: Tags }[];
  workspaces: Workspace[];
  reserved: Reserved[];
};

// ---- rules

const reservationOf = ({ projects, reserved }: Model, project: number, key: string): Reserved | undefined =>
  projects[project]?.tags.has(key) ? reserved.find((one) => one.fixed && one.key === key) : undefined;

const isFixed = (model: Model, project: number, keys: Iterable<string>): boolean =>
  [...keys].some((key) => reservationOf(model, project, key) !== undefined);

type Bindings = readonly (readonly [key: string, value: string])[];

/**
 * Applies bindings to tags. If two bindings have the same key, the later one counts, and the key keeps its position. A
 * flat tag stays flat if its binding has no value. A replacing list keeps the flat tags unless it names one of them.
 */
const bound = (tags: Tags, bindings: Bindings, how: How): Tags => {
  const values = new Map(bindings);
  const staysFlat = (key: string): boolean => tags.get(key) === null && values.get(key) === '';
  const keepsFlat = how === 'adding' || ![...values.keys()].some(staysFlat);
  const all: Tags = new Map(
    [...tags].filter(([key, value]) => how === 'adding' || values.has(key) || (value === null && keepsFlat)),
  );
  for (const [key, value] of values) if (!staysFlat(key)) all.set(key, value);
  return all;
};

const changedBy = (before: Tags, after: Tags): string[] =>
  [...after].filter(([key, value]) => before.get(key) !== value).map(([key]) => key);

/** Returns whether flat-tag routes show and remove the name: it is a flat tag, or a binding without a value. */
const isCarried = (tags: Tags, name: string): boolean => tags.has(name) && !tags.get(name);

/** Returns all effective tags, including flat tags. Lists that filter by tags find all of them. */
const counting = (
  model: Model,
  { tags, project }: Workspace,
): readonly (readonly [string, string | null, boolean])[] => {
  const inherited = [...(model.projects[project]?.tags ?? [])].filter(([key]) => !tags.has(key));
  return [...[...tags].map((tag) => [...tag, false] as const), ...inherited.map((tag) => [...tag, true] as const)];
};

/** A flat tag is an effective binding only if it overrides a binding of the project. */
const effective = (model: Model, one: Workspace): ReturnType<typeof counting> =>
  counting(model, one).filter(([name, value]) => value !== null || model.projects[one.project]?.tags.has(name));

const carriersOf = ({ workspaces }: Model, name: string): Workspace[] =>
  workspaces.filter(({ tags }) => isCarried(tags, name));

// ---- steps

const KEYS = ['env', 'team', 'tier', 'zone'] as const;
const key = fc.constantFrom(...KEYS);
const keys = fc.uniqueArray(key, { maxLength: 2 });
const bindings: fc.Arbitrary<Bindings> = fc.array(fc.tuple(key, fc.constantFrom('', 'x', 'y')), { maxLength: 3 });
const project = fc.nat(1);
const workspace = fc.nat(3);
const location = fc.constantFrom('document', 'collection', 'relationship');
const how = fc.constantFrom('adding', 'replacing');
type How = typeof how extends fc.Arbitrary<infer T> ? T : never;

const kind = <T extends string, D extends object>(type: T, data: { [K in keyof D]: fc.Arbitrary<D[K]> }) =>
  fc.record(data).map((values) => ({ type, data: values as D }));

const step = fc.oneof(
  { weight: 3, arbitrary: kind('create', { project, keys, bindings }) },
  { weight: 1, arbitrary: kind('delete', { workspace }) },
  { weight: 3, arbitrary: kind('move', { workspace, project, bindings: fc.option(bindings), many: fc.boolean() }) },
  { weight: 4, arbitrary: kind('bind', { workspace, bindings, location, how }) },
  { weight: 4, arbitrary: kind('bindProject', { project, bindings, location, how }) },
  { weight: 2, arbitrary: kind('tag', { workspace, keys, byId: fc.boolean() }) },
  { weight: 2, arbitrary: kind('untag', { workspace, keys, byId: fc.boolean() }) },
  { weight: 1, arbitrary: kind('tagAll', { key, of: fc.uniqueArray(workspace, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: kind('untagAll', { keys }) },
  { weight: 2, arbitrary: kind('reserve', { key, fixed: fc.boolean() }) },
  { weight: 2, arbitrary: kind('changeReserved', { at: fc.nat(3), key: fc.option(key), fixed: fc.boolean() }) },
  { weight: 1, arbitrary: kind('unreserve', { at: fc.nat(3) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type DataOf<T extends Step['type']> = Extract<Step, { type: T }>['data'];

const listed = (all: Bindings) => ({
  data: all.map(([name, value]) => ({ type: 'tag-bindings', attributes: { key: name, value } })),
});

const inProject = ({ projects }: Model, index: number) => ({
  project: { data: { type: 'projects', id: projects[index]?.id } },
});

/** Sends bindings by one of the routes. A document always replaces, and a collection always adds. */
const send = (path: string, type: string, all: Bindings, at: string, strategy: How): Promise<ApiResponse> => {
  if (at === 'document') return server.patch(path, resource(type, {}, { 'tag-bindings': listed(all) }));
  if (at === 'collection') return server.patch(`${path}/tag-bindings`, listed(all));
  const related = `${path}/relationships/tag-bindings`;
  return strategy === 'adding' ? server.post(related, listed(all)) : server.patch(related, listed(all));
};

const howAt = (at: string, strategyAt: How): How =>
  at === 'document' ? 'replacing' : at === 'collection' ? 'adding' : strategyAt;

const statusAt = (at: string): number => (at === 'relationship' ? 204 : 200);

let counter = 0;

const take: { readonly [T in Step['type']]: (model: Model, data: DataOf<T>) => Promise<void> } = {
  create: async (model, { project: index, keys: names, bindings: all }) => {
    const tags: Tags = bound(new Map(names.map((name) => [name, null])), all, 'adding');
    const name = `ws-${(counter += 1)}`;
    const relationships = { ...inProject(model, index), tags: flatTags(...names), 'tag-bindings': listed(all) };
    const answer = await server.post(
      `/api/v2/organizations/${model.name}/workspaces`,
      resource('workspaces', { name }, relationships),
    );
    if (isFixed(model, index, tags.keys())) return void expectStatus(answer, 422);
    const id = expectStatus(answer, 201).body.data.id as string;
    model.workspaces.push({ id, name, project: index, tags });
  },

  delete: async (model, { workspace: index }) => {
    const [workspaceToDelete] = model.workspaces.splice(index, 1);
    if (workspaceToDelete) expectStatus(await server.delete(`/api/v2/workspaces/${workspaceToDelete.id}`), 204);
  },

  move: async (model, { workspace: index, project: to, bindings: all, many }) => {
    const workspaceToMove = model.workspaces[index];
    if (!workspaceToMove) return;
    const alone = many && all === null;
    const answer = alone
      ? await server.post(
          `/api/v2/projects/${model.projects[to]?.id}/relationships/workspaces`,
          related('workspaces', workspaceToMove.id),
        )
      : await server.patch(
          `/api/v2/workspaces/${workspaceToMove.id}`,
          resource('workspaces', {}, { ...inProject(model, to), ...(all ? { 'tag-bindings': listed(all) } : {}) }),
        );
    const after = all ? bound(workspaceToMove.tags, all, 'replacing') : workspaceToMove.tags;
    // In another project every tag is new. In the same project only changed tags are.
    const newKeys = to === workspaceToMove.project ? changedBy(workspaceToMove.tags, after) : after.keys();
    if (isFixed(model, to, newKeys)) return void expectStatus(answer, 422);
    expectStatus(answer, alone ? 204 : 200);
    Object.assign(workspaceToMove, { project: to, tags: after });
  },

  bind: async (model, { workspace: index, bindings: all, location: at, how: mode }) => {
    const one = model.workspaces[index];
    if (!one) return;
    const answer = await send(`/api/v2/workspaces/${one.id}`, 'workspaces', all, at, mode);
    const after = bound(one.tags, all, howAt(at, mode));
    if (isFixed(model, one.project, changedBy(one.tags, after))) return void expectStatus(answer, 422);
    expectStatus(answer, statusAt(at));
    one.tags = after;
  },

  bindProject: async (model, { project: index, bindings: all, location: at, how: mode }) => {
    const owner = model.projects[index];
    if (!owner) return;
    expectStatus(await send(`/api/v2/projects/${owner.id}`, 'projects', all, at, mode), statusAt(at));
    const after = bound(owner.tags, all, howAt(at, mode));
    owner.tags.clear();
    for (const [name, value] of after) owner.tags.set(name, value);
  },

  tag: async (model, { workspace: index, keys: names, byId }) => {
    const one = model.workspaces[index];
    if (!one) return;
    const path = `/api/v2/workspaces/${one.id}/relationships/tags`;
    const answer = await server.post(path, flatTagsBody(model, names, byId));
    if (byId && names.some((name) => carriersOf(model, name).length === 0)) return void expectStatus(answer, 404);
    const absent = names.filter((name) => !one.tags.has(name));
    if (isFixed(model, one.project, absent)) return void expectStatus(answer, 422);
    expectStatus(answer, 204);
    for (const name of absent) one.tags.set(name, null);
  },

  untag: async (model, { workspace: index, keys: names, byId }) => {
    const one = model.workspaces[index];
    if (!one) return;
    const path = `/api/v2/workspaces/${one.id}/relationships/tags`;
    const answer = await server.delete(path, flatTagsBody(model, names, byId));
    if (byId && names.some((name) => carriersOf(model, name).length === 0)) return void expectStatus(answer, 404);
    expectStatus(answer, 204);
    for (const name of names) if (isCarried(one.tags, name)) one.tags.delete(name);
  },

  tagAll: async (model, { key: name, of }) => {
    const tagged = of.flatMap((index) => model.workspaces[index] ?? []);
    const path = `/api/v2/tags/${deriveTagId(model.organization, name)}/relationships/workspaces`;
    const answer = await server.post(path, related('workspaces', ...tagged.map(({ id }) => id)));
    if (carriersOf(model, name).length === 0) return void expectStatus(answer, 404);
    const absent = tagged.filter(({ tags }) => !tags.has(name));
    if (absent.some((one) => isFixed(model, one.project, [name]))) return void expectStatus(answer, 422);
    expectStatus(answer, 204);
    for (const { tags } of absent) tags.set(name, null);
  },

  untagAll: async (model, { keys: names }) => {
    const answer = await server.delete(`/api/v2/organizations/${model.name}/tags`, flatTagsBody(model, names, true));
    if (names.some((name) => carriersOf(model, name).length === 0)) return void expectStatus(answer, 404);
    expectStatus(answer, 204);
    for (const name of names) for (const { tags } of carriersOf(model, name)) tags.delete(name);
  },

  reserve: async (model, { key: name, fixed }) => {
    const body = resource('reserved-tag-keys', { key: name, 'disable-overrides': fixed });
    const answer = await server.post(`/api/v2/organizations/${model.name}/reserved-tag-keys`, body);
    if (model.reserved.some((one) => one.key === name)) return void expectStatus(answer, 422);
    model.reserved.push({ id: expectStatus(answer, 201).body.data.id as string, key: name, fixed });
  },

  changeReserved: async (model, { at, key: name, fixed }) => {
    const one = model.reserved[at];
    if (!one) return;
    const newKey = name ?? one.key;
    const body = resource('reserved-tag-keys', { key: newKey, 'disable-overrides': fixed });
    const answer = await server.patch(`/api/v2/reserved-tags/${one.id}`, body);
    const isTaken = model.reserved.some((other) => other !== one && other.key === newKey);
    if (isTaken) return void expectStatus(answer, 422);
    expectStatus(answer, 200);
    Object.assign(one, { key: newKey, fixed });
  },

  unreserve: async (model, { at }) => {
    const [reservation] = model.reserved.splice(at, 1);
    if (reservation) expectStatus(await server.delete(`/api/v2/reserved-tag-keys/${reservation.id}`), 204);
  },
};

const flatTagsBody = ({ organization }: Model, names: readonly string[], byId: boolean): object =>
  byId ? related('tags', ...names.map((name) => deriveTagId(organization, name))) : flatTags(...names);

const takeOne = ({ type, data }: Step, model: Model): Promise<void> =>
  (take[type] as (model: Model, data: unknown) => Promise<void>)(model, data);

// ---- expectations

type Entry = {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links?: { readonly 'inherited-from': string };
};

const attributesIn = ({ body }: ApiResponse): Record<string, unknown>[] =>
  body.data.map(({ attributes }: Entry) => attributes);

const expectBindings = async (model: Model, one: Workspace): Promise<void> => {
  const answer = expectStatus(await server.get(`/api/v2/workspaces/${one.id}/effective-tag-bindings`), 200);
  const actual = answer.body.data.map(({ attributes, links }: Entry) => [
    attributes['key'],
    attributes['value'],
    attributes['forbidden-by'],
    links?.['inherited-from'],
  ]);
  const home = `/api/v2/projects/${model.projects[one.project]?.id}`;
  expect(actual).toEqual(
    effective(model, one).map(([name, value, inherited]) => [
      name,
      value ?? '',
      inherited ? null : (reservationOf(model, one.project, name)?.id ?? null),
      inherited ? home : undefined,
    ]),
  );
};

const expectTags = async (model: Model): Promise<void> => {
  const answer = expectStatus(await server.get(`/api/v2/organizations/${model.name}/tags`), 200);
  const carried = KEYS.map((name) => [name, carriersOf(model, name).length] as const).filter(([, n]) => n > 0);
  expect(attributesIn(answer).map(({ name, 'instance-count': n }) => [name, n])).toEqual(carried);
};

type Filter = readonly (readonly [key: string, value: string])[];

const matches = (model: Model, one: Workspace, filter: Filter): boolean =>
  filter.every(([name, value]) =>
    counting(model, one).some((tag) => tag[0] === name && (value === '' || tag[1] === value)),
  );

/** Expects a list to contain these workspaces with their own tags, and the right total. */
const expectList = async (model: Model, query: string, expectedWorkspaces: readonly Workspace[]): Promise<void> => {
  const answer = expectStatus(
    await server.get(`/api/v2/organizations/${model.name}/workspaces?page[size]=100&${query}`),
    200,
  );
  const actual = attributesIn(answer).map(({ name, 'tag-names': names }) => [name, names]);
  const expected = expectedWorkspaces
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, tags }) => [name, [...tags.keys()]]);
  expect([query, actual, answer.body.meta.pagination['total-count']]).toEqual([query, expected, expected.length]);
};

const filter: fc.Arbitrary<Filter> = fc.array(fc.tuple(key, fc.constantFrom('', 'x', 'y')), {
  minLength: 1,
  maxLength: 4,
});

const queryOf = (tagFilter: Filter): string =>
  tagFilter
    .map(([name, value], n) => `filter[tagged][${3 * n}][key]=${name}&filter[tagged][${3 * n}][value]=${value}`)
    .join('&');

const expectAll = async (model: Model, filters: readonly Filter[], own: readonly string[]): Promise<void> => {
  for (const one of model.workspaces) await expectBindings(model, one);
  await expectTags(model);
  await expectList(model, '', model.workspaces);
  for (const tagFilter of filters) {
    await expectList(
      model,
      queryOf(tagFilter),
      model.workspaces.filter((one) => matches(model, one, tagFilter)),
    );
  }
  const carrying = model.workspaces.filter(({ tags }) => own.every((name) => tags.has(name)));
  await expectList(model, `search[tags]=${own.join(',')}`, carrying);
};

const settle = async (): Promise<Model> => {
  const { name, id: organization } = await makeOrganization(server, `acme-${(counter += 1)}`);
  const projects = [await makeProject(server, name, 'one'), await makeProject(server, name, 'two')];
  return {
    name,
    organization,
    projects: projects.map((id) => ({ id, tags: new Map() })),
    workspaces: [],
    reserved: [],
  };
};

it(
  'tags after any sequence of bindings, reservations, moves and deletions match a plain model',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 14 }),
        fc.array(filter, { minLength: 2, maxLength: 2 }),
        keys,
        async (steps, filters, own) => {
          const model = await settle();
          for (const next of steps) {
            await takeOne(next, model);
            await expectAll(model, filters, own);
          }
        },
      ),
      { numRuns: countRounds(10) },
    ),
  scaleLimit(120_000),
);

it('the views match the log after all sequences', async () => {
  await expectViewsMatchLog(server, moduleDefinitions);
});
