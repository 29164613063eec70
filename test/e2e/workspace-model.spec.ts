import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listViews, rebuildView } from '#storage/event-store';
import { moduleDefinitions } from '../../apps/modules.js';
import { reportBody, resource, runBody } from '../support/seeds.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import type { ApiResponse } from '../support/server.js';
import { newStateVersion } from '../support/state-file.js';
import { expectViewsMatchLog } from '../support/views-match-log.js';
import type { ModelRun, Status } from './workspace-model.js';
import {
  Acme,
  EXECUTOR,
  plain,
  WorkspaceTestWorld,
  type ActingCaller,
  type ModelledWorkspace,
  type ReturnedWorkspace,
  type CallerName,
} from './workspace-model-world.js';

let acme: Acme;

beforeAll(async () => {
  acme = await Acme.founded();
});

afterAll(() => acme.server.close());

/** A step over HTTP and in the model. A step that is impossible in the current state does nothing. */
type Step = { readonly title: string; readonly run: (world: WorkspaceTestWorld) => Promise<void> };

type StepDefinition = {
  /** Status of the response unless the model refuses the request. */
  readonly status: number;
  readonly send: (caller: ActingCaller, world: WorkspaceTestWorld) => Promise<ApiResponse>;
  readonly rule: (life: ModelledWorkspace, caller: ActingCaller, answer: ApiResponse) => void;
};

const perform = (callerName: CallerName, action: string, { status, send, rule }: StepDefinition): Step => ({
  title: `${callerName} ${action}`,
  run: async (world) => {
    const caller = world.acting(callerName);
    if (!caller) return;
    await world.done(
      caller.person.name,
      status,
      () => send(caller, world),
      (answer) => rule(world.life, caller, answer),
    );
  },
});

const creating = (callerName: CallerName): Step => ({
  title: `${callerName} creates it again`,
  run: async (world) => {
    const caller = world.acting(callerName);
    if (!caller) return;
    const body = resource('workspaces', { name: world.life.name });
    await world.done(
      caller.person.name,
      201,
      () => caller.api.post('/api/v2/organizations/acme/workspaces', body),
      ({ body: response }) => (world.life = world.life.successor(caller, (response.data?.id ?? '') as string)),
    );
  },
});

const locking = (callerName: CallerName, reason: string): Step =>
  perform(callerName, 'locks', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/lock'), { reason }),
    rule: (life, caller) => life.lockIt(caller, reason),
  });

const unlocking = (callerName: CallerName): Step =>
  perform(callerName, 'unlocks', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/unlock')),
    rule: (life, caller) => life.unlockIt(caller),
  });

const forcing = (callerName: CallerName): Step =>
  perform(callerName, 'unlocks by force', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/force-unlock')),
    rule: (life, caller) => life.forceUnlock(caller),
  });

type Changes = { readonly name?: string; readonly description?: string | null; readonly autoApply?: boolean };

const updating = (callerName: CallerName, { name: suffix, description, autoApply }: Changes): Step => ({
  title: `${callerName} updates ${JSON.stringify({ suffix, description, autoApply })}`,
  run: (world) => {
    // Names are unique in the organization, so the new name keeps the prefix of this workspace.
    const name = suffix === undefined ? undefined : world.life.name.replace(/-\w*$/, `-${suffix}`);
    const attributes = { name, description, 'auto-apply': autoApply };
    const changes = JSON.parse(JSON.stringify({ name, description, autoApply })) as Changes;
    return perform(callerName, '', {
      status: 200,
      send: ({ api }) => api.patch(world.path(), resource('workspaces', attributes)),
      rule: (life, caller) => life.update(caller, changes),
    }).run(world);
  },
});

const flat = (name: string): object => ({ data: [{ type: 'tags', attributes: { name } }] });

const tagging = (callerName: CallerName, key: string): Step =>
  perform(callerName, `tags ${key}`, {
    status: 204,
    send: ({ api }, world) => api.post(world.path('/relationships/tags'), flat(key)),
    rule: (life, caller) => life.tag(caller, key),
  });

const untagging = (callerName: CallerName, key: string): Step =>
  perform(callerName, `removes the tag ${key}`, {
    status: 204,
    send: ({ api }, world) => api.delete(world.path('/relationships/tags'), flat(key)),
    rule: (life, caller) => life.untag(caller, key),
  });

const binding = (callerName: CallerName, key: string, value: string): Step =>
  perform(callerName, `binds ${key} to ${value}`, {
    status: 200,
    send: ({ api }, world) =>
      api.patch(world.path('/tag-bindings'), { data: [{ type: 'tag-bindings', attributes: { key, value } }] }),
    rule: (life, caller) => life.bind(caller, key, value),
  });

type Upload = Parameters<WorkspaceTestWorld['file']>[0];

const uploading = (callerName: CallerName, kind: Upload, resources: number, inline: boolean): Step => ({
  title: `${callerName} ${inline ? 'uploads' : 'announces'} ${kind === 'again' ? 'a state again' : `a ${kind} state`}`,
  run: (world) => {
    const file = world.file(kind, resources);
    return perform(callerName, '', {
      status: 201,
      send: ({ api }) => api.post(world.path('/state-versions'), newStateVersion(file, { inline })),
      rule: (life, caller, answer) => {
        const id = (answer.body.data?.id ?? '') as string;
        const version = life.upload(caller, file, { id, inline });
        expect(id).toBe(version.id);
        if (answer.status === 201) world.announce(version, answer);
      },
    }).run(world);
  },
});

const putting = (right: boolean): Step => ({
  title: `${right ? 'the file' : 'another file'} is uploaded to the link`,
  run: async (world) => {
    const announced = world.announced;
    if (!announced) return;
    const { version, link, life } = announced;
    const bytes = right ? version.content.bytes : Buffer.from('{}');
    await world.done(
      'signed link',
      200,
      () => acme.server.as(null).put(link, bytes),
      () => life.put(version, right),
    );
  },
});

const queuing = (callerName: CallerName, planOnly: boolean): Step =>
  perform(callerName, `queues a run${planOnly ? ' that is plan-only' : ''}`, {
    status: 201,
    send: ({ api }, world) => api.post('/api/v2/runs', runBody(world.life.id, { 'plan-only': planOnly })),
    rule: (life, caller, { body }) => life.queueRun(caller, (body.data?.id ?? '') as string, planOnly),
  });

type Which = 'current' | 'newest' | 'pending' | 'planned';

const runOf = ({ currentRun, runs }: ModelledWorkspace, which: Which): ModelRun | null | undefined => {
  if (which === 'current') return currentRun;
  return which === 'newest' ? runs.at(-1) : runs.findLast(({ status }) => status === which);
};

const ACTIONS = {
  apply: 'confirm',
  discard: 'discard',
  cancel: 'cancel',
  'force-cancel': 'forceCancel',
  'force-execute': 'forceExecute',
} as const;
type Action = keyof typeof ACTIONS;

const acting = (callerName: CallerName, action: Action, which: Which): Step => ({
  title: `${callerName} requests ${action} of the ${which} run`,
  run: async (world) => {
    const run = runOf(world.life, which);
    if (!run) return;
    await perform(callerName, '', {
      status: 202,
      send: ({ api }) => api.post(`/api/v2/runs/${run.id}/actions/${action}`),
      rule: (life, caller) => life[ACTIONS[action]](caller, run),
    }).run(world);
  },
});

const ONWARDS: Partial<Readonly<Record<Status, Status>>> = {
  plan_queued: 'planning',
  planning: 'planned',
  apply_queued: 'applying',
  applying: 'applied',
};

const reporting = (reported: Status | 'next', which: Which, changes: boolean): Step => ({
  title: `the executor reports ${reported} of the ${which} run${changes ? '' : ', with no changes'}`,
  run: async (world) => {
    const run = runOf(world.life, which);
    if (!run) return;
    const status = reported === 'next' ? (ONWARDS[run.status] ?? 'planning') : reported;
    await world.done(
      EXECUTOR,
      200,
      () => acme.agents.post(`/api/v2/runs/${run.id}/progress`, reportBody(status, { 'has-changes': changes })),
      () => world.life.report(run, status, changes),
    );
  },
});

const removing = (callerName: CallerName, forced: boolean): Step =>
  perform(callerName, forced ? 'deletes it by force' : 'deletes it', {
    status: 204,
    send: ({ api }, world) => (forced ? api.delete(world.path()) : api.post(world.path('/actions/safe-delete'))),
    rule: (life, caller) => life.remove(caller, forced),
  });

const taking = (step: Step, world: WorkspaceTestWorld): Promise<void> =>
  step.run(world).catch((cause: unknown) => {
    throw new Error(`at the step: ${step.title}`, { cause });
  });

/** Returns plausible next steps of users of the workspace. */
const goodIdeas = ({ life }: WorkspaceTestWorld): readonly Step[] => {
  if (!life.alive) return [creating('owner')];
  const { lock, latest, runs } = life;
  if (latest?.status === 'pending') return [putting(true)];
  // Several runs can be planned if one has lost the lock meanwhile.
  const confirming = runs.some(({ status }) => status === 'planned') ? [acting('writer', 'apply', 'planned')] : [];
  if (!lock) {
    return [...confirming, locking('writer', ''), locking('team', 'applying the network'), queuing('admin', false)];
  }
  const uploads = [uploading('holder', 'next', 3, true), uploading('holder', 'next', 1, false)];
  const run = runs.find(({ id }) => id === lock.holder.id);
  if (!run) return [...uploads, ...confirming, unlocking('holder')];
  if (run.status === 'planned') return [...confirming, acting('admin', 'discard', 'planned'), forcing('admin')];
  const report = reporting('next', 'current', true);
  return run.status === 'applying' ? [...uploads, report] : [report, ...confirming];
};

const continuing = (idea: number): Step => ({
  title: 'a user takes a plausible next step',
  run: async (world) => {
    const ideas = goodIdeas(world);
    const step = ideas[idea % ideas.length];
    if (step) await taking(step, world);
  },
});

const one = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const anyCaller = one<CallerName>('holder', 'holder', 'owner', 'admin', 'writer', 'reader', 'team', 'run');
const which = one<Which>('current', 'newest', 'pending', 'planned');
const action = one(...(Object.keys(ACTIONS) as Action[]));
const status = one<Status | 'next'>('next', 'next', 'planned', 'applied', 'errored', 'canceled');
const upload = one<Upload>('next', 'next', 'stale', 'again', 'foreign');
const key = one('flat', 'env');
const changes = one<Changes>(
  { name: 'uno' },
  { name: 'one' },
  { description: 'net' },
  { description: null },
  { autoApply: true },
  { autoApply: false, description: 'land' },
);
const mostly = one(true, true, true, false);

/** Steps with their weights. */
const STEPS: readonly (readonly [weight: number, step: fc.Arbitrary<Step>])[] = [
  [25, fc.nat({ max: 5 }).map(continuing)],
  [2, fc.tuple(anyCaller, one('', 'applying the network')).map((step) => locking(...step))],
  [3, anyCaller.map(unlocking)],
  [2, anyCaller.map(forcing)],
  [4, fc.tuple(anyCaller, upload, one(0, 1, 3), fc.boolean()).map((step) => uploading(...step))],
  [2, mostly.map(putting)],
  [
    3,
    fc
      .tuple(
        anyCaller,
        mostly.map((applied) => !applied),
      )
      .map((step) => queuing(...step)),
  ],
  [6, fc.tuple(anyCaller, action, which).map((step) => acting(...step))],
  [3, fc.tuple(status, which, mostly).map((step) => reporting(...step))],
  [2, fc.tuple(anyCaller, changes).map((step) => updating(...step))],
  [1, fc.tuple(anyCaller, key).map((step) => tagging(...step))],
  [1, fc.tuple(anyCaller, key).map((step) => untagging(...step))],
  [1, fc.tuple(anyCaller, key, one('a', 'b')).map((step) => binding(...step))],
  [1, fc.tuple(one<CallerName>('owner', 'admin', 'writer', 'run'), fc.boolean()).map((step) => removing(...step))],
  [1, one<CallerName>('owner', 'admin', 'team', 'run').map(creating)],
];
/** A step that prints its name, so that failures list the steps. */
const anyStep = fc
  .oneof(...STEPS.map(([weight, arbitrary]) => ({ weight, arbitrary })))
  .map((step) => Object.assign(step, { [fc.toStringMethod]: () => step.title }));

const justBefore = (at: string): string => new Date(Date.parse(at) - 1).toISOString();

/**
 * Expects as-of to return each recorded document by id and by name, from its time until the next change, and not
 * before.
 */
const expectHistory = async ({ returnedWorkspaces }: WorkspaceTestWorld): Promise<void> => {
  const { api } = acme.person('owner');
  const asOf = async (path: string, at: string): Promise<object | null> => {
    const { status, body } = await api.get(`/api/v2/${path}?as-of=${at}`);
    expect([200, 404]).toContain(status);
    return status === 404 ? null : plain(body.data);
  };
  const then = ({ id, at }: Pick<ReturnedWorkspace, 'id' | 'at'>): object | null =>
    returnedWorkspaces.findLast((one) => one.id === id && one.at <= at)?.document ?? null;
  const queries = returnedWorkspaces.flatMap(({ id, at }) => [at, justBefore(at)].map((time) => ({ id, at: time })));
  const actual = queries.map(async (query) => ({
    ...query,
    document: await asOf(`workspaces/${query.id}`, query.at),
  }));
  expect(await Promise.all(actual)).toEqual(queries.map((query) => ({ ...query, document: then(query) })));
  const byName = returnedWorkspaces.map(({ at, name }) => asOf(`organizations/acme/workspaces/${name}`, at));
  expect(await Promise.all(byName)).toEqual(returnedWorkspaces.map(({ document }) => document));
};

let lives = 0;

describe('the life of a workspace with random steps of all callers', () => {
  it(
    'matches a plain model, after each step and as of each step',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.noBias(fc.array(anyStep, { minLength: 15, maxLength: 25, size: 'max' })), async (steps) => {
          const world = WorkspaceTestWorld.create(acme, `life-${(lives += 1)}-one`);
          for (const step of [creating('owner'), ...steps]) await taking(step, world);
          await expectHistory(world);
        }),
        { numRuns: countRounds(8), endOnFailure: true },
      );
    },
    scaleLimit(300_000),
  );

  it('leaves views, followers and snapshots that match the log', async () => {
    await expectViewsMatchLog(acme.server, moduleDefinitions);
  });

  it('gives the same rows if views are rebuilt in small pages', async () => {
    const { store, runtime } = acme.server;
    const names = ['workspaces', 'workspace_tags', 'workspace_counts', 'workspace_history'];
    for (const view of listViews(moduleDefinitions).filter(({ name }) => names.includes(name)))
      await rebuildView(store, view, { now: runtime.clock.now(), pace: { page: 10, rest: 0 } });
    await expectViewsMatchLog(acme.server, moduleDefinitions);
  });
});
