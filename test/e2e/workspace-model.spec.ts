import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { moduleDefinitions } from '../../apps/modules.js';
import { reportBody, resource, runBody } from '../support/seeds.js';
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

/** What happens: over HTTP, and to the model. What makes no sense as things stand is left out. */
type Step = { readonly title: string; readonly run: (world: WorkspaceTestWorld) => Promise<void> };

type Deed = {
  /** Where it is not refused. */
  readonly status: number;
  readonly send: (caller: ActingCaller, world: WorkspaceTestWorld) => Promise<ApiResponse>;
  readonly rule: (life: ModelledWorkspace, caller: ActingCaller, answer: ApiResponse) => void;
};

const doing = (who: CallerName, what: string, { status, send, rule }: Deed): Step => ({
  title: `${who} ${what}`,
  run: async (world) => {
    const caller = world.acting(who);
    if (!caller) return;
    await world.done(
      caller.person.name,
      status,
      () => send(caller, world),
      (answer) => rule(world.life, caller, answer),
    );
  },
});

const creating = (who: CallerName): Step => ({
  title: `${who} creates it anew`,
  run: async (world) => {
    const caller = world.acting(who);
    if (!caller) return;
    const body = resource('workspaces', { name: world.life.name });
    await world.done(
      caller.person.name,
      201,
      () => caller.api.post('/api/v2/organizations/acme/workspaces', body),
      ({ body: made }) => (world.life = world.life.successor(caller, (made.data?.id ?? '') as string)),
    );
  },
});

const locking = (who: CallerName, reason: string): Step =>
  doing(who, 'locks', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/lock'), { reason }),
    rule: (life, caller) => life.lockIt(caller, reason),
  });

const unlocking = (who: CallerName): Step =>
  doing(who, 'unlocks', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/unlock')),
    rule: (life, caller) => life.unlockIt(caller),
  });

const forcing = (who: CallerName): Step =>
  doing(who, 'unlocks by force', {
    status: 200,
    send: ({ api }, world) => api.post(world.path('/actions/force-unlock')),
    rule: (life, caller) => life.forceUnlock(caller),
  });

type Changes = { readonly name?: string; readonly description?: string | null; readonly autoApply?: boolean };

const updating = (who: CallerName, { name: suffix, description, autoApply }: Changes): Step => ({
  title: `${who} updates ${JSON.stringify({ suffix, description, autoApply })}`,
  run: (world) => {
    // Names are the organization's: another life must not have it already.
    const name = suffix === undefined ? undefined : world.life.name.replace(/-\w*$/, `-${suffix}`);
    const attributes = { name, description, 'auto-apply': autoApply };
    const changes = JSON.parse(JSON.stringify({ name, description, autoApply })) as Changes;
    return doing(who, '', {
      status: 200,
      send: ({ api }) => api.patch(world.path(), resource('workspaces', attributes)),
      rule: (life, caller) => life.update(caller, changes),
    }).run(world);
  },
});

const flat = (name: string): object => ({ data: [{ type: 'tags', attributes: { name } }] });

const tagging = (who: CallerName, key: string): Step =>
  doing(who, `tags ${key}`, {
    status: 204,
    send: ({ api }, world) => api.post(world.path('/relationships/tags'), flat(key)),
    rule: (life, caller) => life.tag(caller, key),
  });

const untagging = (who: CallerName, key: string): Step =>
  doing(who, `takes away the tag ${key}`, {
    status: 204,
    send: ({ api }, world) => api.delete(world.path('/relationships/tags'), flat(key)),
    rule: (life, caller) => life.untag(caller, key),
  });

const binding = (who: CallerName, key: string, value: string): Step =>
  doing(who, `binds ${key} to ${value}`, {
    status: 200,
    send: ({ api }, world) =>
      api.patch(world.path('/tag-bindings'), { data: [{ type: 'tag-bindings', attributes: { key, value } }] }),
    rule: (life, caller) => life.bind(caller, key, value),
  });

type Upload = Parameters<WorkspaceTestWorld['file']>[0];

const uploading = (who: CallerName, kind: Upload, resources: number, inline: boolean): Step => ({
  title: `${who} ${inline ? 'uploads' : 'announces'} ${kind === 'again' ? 'a state again' : `a ${kind} state`}`,
  run: (world) => {
    const file = world.file(kind, resources);
    return doing(who, '', {
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
  title: `${right ? 'the file' : 'another file'} comes that was announced`,
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

const queuing = (who: CallerName, planOnly: boolean): Step =>
  doing(who, `queues a run${planOnly ? ' that is only planned' : ''}`, {
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

const acting = (who: CallerName, action: Action, which: Which): Step => ({
  title: `${who} says ${action} to the ${which} run`,
  run: async (world) => {
    const run = runOf(world.life, which);
    if (!run) return;
    await doing(who, '', {
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

const reporting = (said: Status | 'next', which: Which, changes: boolean): Step => ({
  title: `the executor says ${said} of the ${which} run${changes ? '' : ', with no changes'}`,
  run: async (world) => {
    const run = runOf(world.life, which);
    if (!run) return;
    const status = said === 'next' ? (ONWARDS[run.status] ?? 'planning') : said;
    await world.done(
      EXECUTOR,
      200,
      () => acme.agents.post(`/api/v2/runs/${run.id}/progress`, reportBody(status, { 'has-changes': changes })),
      () => world.life.report(run, status, changes),
    );
  },
});

const removing = (who: CallerName, forced: boolean): Step =>
  doing(who, forced ? 'deletes it by force' : 'deletes it', {
    status: 204,
    send: ({ api }, world) => (forced ? api.delete(world.path()) : api.post(world.path('/actions/safe-delete'))),
    rule: (life, caller) => life.remove(caller, forced),
  });

const taking = (step: Step, world: WorkspaceTestWorld): Promise<void> =>
  step.run(world).catch((cause: unknown) => {
    throw new Error(`when ${step.title}`, { cause });
  });

/** What who works with a workspace would do next. */
const goodIdeas = ({ life }: WorkspaceTestWorld): readonly Step[] => {
  if (!life.alive) return [creating('owner')];
  const { lock, latest, runs } = life;
  if (latest?.status === 'pending') return [putting(true)];
  // One that has lost the lock meanwhile, may be.
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

const goingOn = (idea: number): Step => ({
  title: 'it goes on as it should',
  run: async (world) => {
    const ideas = goodIdeas(world);
    const step = ideas[idea % ideas.length];
    if (step) await taking(step, world);
  },
});

const one = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const who = one<CallerName>('holder', 'holder', 'owner', 'admin', 'writer', 'reader', 'team', 'run');
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

/** How often each comes. */
const STEPS: readonly (readonly [weight: number, step: fc.Arbitrary<Step>])[] = [
  [25, fc.nat({ max: 5 }).map(goingOn)],
  [2, fc.tuple(who, one('', 'applying the network')).map((step) => locking(...step))],
  [3, who.map(unlocking)],
  [2, who.map(forcing)],
  [4, fc.tuple(who, upload, one(0, 1, 3), fc.boolean()).map((step) => uploading(...step))],
  [2, mostly.map(putting)],
  [
    3,
    fc
      .tuple(
        who,
        mostly.map((applied) => !applied),
      )
      .map((step) => queuing(...step)),
  ],
  [6, fc.tuple(who, action, which).map((step) => acting(...step))],
  [3, fc.tuple(status, which, mostly).map((step) => reporting(...step))],
  [2, fc.tuple(who, changes).map((step) => updating(...step))],
  [1, fc.tuple(who, key).map((step) => tagging(...step))],
  [1, fc.tuple(who, key).map((step) => untagging(...step))],
  [1, fc.tuple(who, key, one('a', 'b')).map((step) => binding(...step))],
  [1, fc.tuple(one<CallerName>('owner', 'admin', 'writer', 'run'), fc.boolean()).map((step) => removing(...step))],
  [1, one<CallerName>('owner', 'admin', 'team', 'run').map(creating)],
];
/** Failures name the steps. */
const anyStep = fc
  .oneof(...STEPS.map(([weight, arbitrary]) => ({ weight, arbitrary })))
  .map((step) => Object.assign(step, { [fc.toStringMethod]: () => step.title }));

const justBefore = (at: string): string => new Date(Date.parse(at) - 1).toISOString();

/** It is found as it was, by its id and by its name of then, from each moment on until the next; and not at any other. */
const expectThePast = async ({ returnedWorkspaces }: WorkspaceTestWorld): Promise<void> => {
  const { api } = acme.person('owner');
  const asOf = async (path: string, at: string): Promise<object | null> => {
    const { status, body } = await api.get(`/api/v2/${path}?as-of=${at}`);
    expect([200, 404]).toContain(status);
    return status === 404 ? null : plain(body.data);
  };
  const then = ({ id, at }: Pick<ReturnedWorkspace, 'id' | 'at'>): object | null =>
    returnedWorkspaces.findLast((one) => one.id === id && one.at <= at)?.document ?? null;
  const moments = returnedWorkspaces.flatMap(({ id, at }) =>
    [at, justBefore(at)].map((moment) => ({ id, at: moment })),
  );
  const told = moments.map(async (moment) => ({
    ...moment,
    document: await asOf(`workspaces/${moment.id}`, moment.at),
  }));
  expect(await Promise.all(told)).toEqual(moments.map((moment) => ({ ...moment, document: then(moment) })));
  const named = returnedWorkspaces.map(({ at, name }) => asOf(`organizations/acme/workspaces/${name}`, at));
  expect(await Promise.all(named)).toEqual(returnedWorkspaces.map(({ document }) => document));
};

let lives = 0;

describe('the life of a workspace, whatever is done to it by whom', () => {
  it('is what a plain model says, step by step and as of each of them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.noBias(fc.array(anyStep, { minLength: 15, maxLength: 25, size: 'max' })), async (steps) => {
        const world = WorkspaceTestWorld.named(acme, `life-${(lives += 1)}-one`);
        for (const step of [creating('owner'), ...steps]) await taking(step, world);
        await expectThePast(world);
      }),
      { numRuns: 20, endOnFailure: true },
    );
  }, 300_000);

  it('leaves views, followers and snapshots that the log makes again', async () => {
    await expectViewsMatchLog(acme.server, moduleDefinitions);
  });
});
