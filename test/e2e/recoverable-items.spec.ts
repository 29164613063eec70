import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { moduleDefinitions } from '../../apps/modules.js';
import { waitForFollowers } from '../support/event-log.js';
import { listChanges, readAll, StreamReader } from '../support/live-streams.js';
import {
  RECOVERABLE_TEST_KINDS,
  type RecoverableTestItem,
  type RecoverableContext,
  type RecoverableTestKind,
} from '../support/recoverable-kinds.js';
import { listRecoverable, purgeItem, recoverItem } from '../support/recovery.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { expectStatus, type SeededMember } from '../support/seeds.js';
import type { ApiResponse, TestServer } from '../support/server.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';
import { RecoverableSite, RecoverableWorld } from './recoverable-items-world.js';

let site: RecoverableSite;
let server: TestServer;
let context: RecoverableContext;

beforeAll(async () => {
  site = await RecoverableSite.start();
  ({ server, context } = site);
});

afterAll(() => server.close());

/** A step of a person. A step that the model refuses gets the status of this refusal. */
type Step = { readonly title: string; readonly run: (world: RecoverableWorld) => Promise<void> };

const suffix = fc.constantFrom('one', 'One', 'two');
const which = fc.nat({ max: 11 });
const anyKind = fc.constantFrom(...RECOVERABLE_TEST_KINDS);

const creating = fc
  .tuple(anyKind, suffix)
  .map(([test, name]): Step => ({ title: `create ${test.kind} ${name}`, run: (world) => world.make(test, name) }));
const removing = which.map((n): Step => ({ title: `delete ${n}`, run: (world) => world.remove(n) }));
const recovering = fc
  .tuple(which, fc.option(suffix, { freq: 3 }))
  .map(([n, name]): Step => ({ title: `recover ${n} as ${name}`, run: (world) => world.recover(n, name) }));
const purging = which.map((n): Step => ({ title: `purge ${n}`, run: (world) => world.purge(n) }));
const renaming = fc
  .tuple(which, suffix)
  .map(([n, name]): Step => ({ title: `rename ${n} to ${name}`, run: (world) => world.rename(n, name) }));
const passing = fc
  .constantFrom(10, 31)
  .map((days): Step => ({ title: `pass ${days} days`, run: (world) => world.pass(days) }));
const forgetting = fc.constant<Step>({ title: 'forget the person', run: (world) => world.replacePerson() });

/** A step that prints its name, so that failures list the steps. */
const anyStep = fc
  .oneof(
    { weight: 4, arbitrary: creating },
    { weight: 10, arbitrary: removing },
    { weight: 10, arbitrary: recovering },
    { weight: 2, arbitrary: purging },
    { weight: 3, arbitrary: renaming },
    { weight: 2, arbitrary: passing },
    { weight: 2, arbitrary: forgetting },
  )
  .map((step) => Object.assign({ ...step }, { [fc.toStringMethod]: () => step.title }));

let rounds = 0;

describe('recoverable resources of all kinds, with random steps', () => {
  it(
    'come back as they were, once, under a unique name, with views that equal a rebuild',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.noBias(fc.array(anyStep, { minLength: 20, maxLength: 30, size: 'max' })), async (steps) => {
          const world = await RecoverableWorld.create(site, `round-${(rounds += 1)}`);
          for (const test of RECOVERABLE_TEST_KINDS) await world.make(test, 'one');
          for (const { run, title } of steps) {
            site.clock.pass({ seconds: 1 });
            await run(world).catch((cause: unknown) => {
              throw new Error(`at the step: ${title}`, { cause });
            });
            await world.expectList();
          }
          await world.expectAll();
          await expectViewsMatchLog(server, moduleDefinitions);
        }),
        { numRuns: countRounds(4), endOnFailure: true },
      );
    },
    scaleLimit(300_000),
  );
});

/** Creates one of each kind. */
const makeOneOfEach = async (person: SeededMember, name: string): Promise<readonly RecoverableTestItem[]> => {
  const items: RecoverableTestItem[] = [];
  for (const test of RECOVERABLE_TEST_KINDS) {
    const { body } = expectStatus(await test.create(person, context, name), 201);
    const item = { id: body.data.id as string, name };
    await test.fill(person, context, item);
    items.push(item);
  }
  return items;
};

type EachItem = (item: RecoverableTestItem, test: RecoverableTestKind) => Promise<ApiResponse>;

const forEachItem = async (items: readonly RecoverableTestItem[], status: number, send: EachItem): Promise<void> => {
  for (const [n, test] of RECOVERABLE_TEST_KINDS.entries()) {
    const item = items[n];
    if (item) expectStatus(await send(item, test), status);
  }
};

describe('a person who is forgotten while resources with the name of the person are deleted', () => {
  it('is named in no table, and in nothing that comes back or is deleted again', async () => {
    const person = await site.makeOwner();
    const [recovered, remaining] = [await makeOneOfEach(person, 'theirs'), await makeOneOfEach(person, 'others')];
    for (const items of [recovered, remaining])
      await forEachItem(items, 204, (item, test) => person.delete(test.pathOf(context, item)));
    await waitForFollowers(server.store, 'workspace_history');
    expect(await site.listTablesNaming(person)).toEqual(
      expect.arrayContaining([
        'event_store.streams',
        ...['workspaces', 'workspace_tags', 'projects', 'project_tags', 'variable_sets', 'registry_providers'].map(
          (table) => `views.deleted_${table}`,
        ),
      ]),
    );

    await site.forget(person);
    await waitForFollowers(server.store, 'workspace_history');
    expect(await site.listTablesNaming(person)).toEqual([]);
    const items = await listRecoverable(server, 'acme');
    const [deletion] = items.filter(({ id }) => id === recovered[0]?.id);
    expect(deletion?.attributes['deleted-by']).toMatchObject({ id: person.id, name: person.id });
    expect(JSON.stringify(items)).not.toContain(person.username);

    await forEachItem(recovered, 200, ({ id }) => recoverItem(server, id));
    await forEachItem(recovered, 200, (item, test) => server.get(test.pathOf(context, item)));
    await waitForFollowers(server.store, 'workspace_history');
    expect(await site.listTablesNaming(person)).toEqual([]);
    await forEachItem(recovered, 204, (item, test) => server.delete(test.pathOf(context, item)));
    expect(await site.listTablesNaming(person)).toEqual([]);
    await expectViewsMatchLog(server, moduleDefinitions);
  });
});

describe('the live messages', () => {
  it('of each kind say that a resource is deleted and created again, and nothing about its purge', async () => {
    const person = await site.makeOwner();
    const items = await makeOneOfEach(person, 'live');
    const reader = await StreamReader.open(server, 'acme', person.token);
    await reader.until(({ messages }) => messages.length > 0);
    await forEachItem(items, 204, (item, test) => person.delete(test.pathOf(context, item)));
    await forEachItem(items, 200, ({ id }) => recoverItem(person, id));
    await readAll(reader, server, 'acme');
    const ofItems = () => listChanges(reader).filter((line) => items.some(({ id }) => line.includes(id)));
    const linesOf = (change: string, event: string) =>
      RECOVERABLE_TEST_KINDS.map(({ kind, events }, n) => `${change} ${kind} ${items[n]?.id} ${events}${event}`);
    const expected = [...linesOf('deleted', 'Deleted'), ...linesOf('created', 'Recovered')];
    expect(ofItems()).toEqual(expected);
    await forEachItem(items, 204, (item, test) => person.delete(test.pathOf(context, item)));
    await forEachItem(items, 204, ({ id }) => purgeItem(person, id));
    await readAll(reader, server, 'acme');
    expect(ofItems()).toEqual([...expected, ...linesOf('deleted', 'Deleted')]);
    reader.close();
  });
});
