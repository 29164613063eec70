import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findDescribedOperation } from '../support/described-responses.js';
import { logLength } from '../support/event-log.js';
import { REACHES_RECEIVERS } from '../support/notification-receiver.js';
import type { ApiResponse } from '../support/server.js';
import {
  addressOf,
  answerOf,
  sendMatrixRequest,
  differences,
  expectedOf,
  nameOf,
  send,
  type MatrixResponses,
  type MatrixDifference,
  type Params,
  type MatrixRow,
} from './matrix.js';
import { CALLERS } from './callers.js';
import { TOKENS_OF_SITE } from './token-owners.js';
import { logEnd, shownIn, tracesOf, tracesSince, type RecordedTraces } from './trail.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import { startMatrixWorld } from './world.js';

const CONCURRENCY = 8;

/** Runs the work for all items with limited concurrency, in no particular order. */
const each = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

const isRead = ({ route }: MatrixRow): boolean => route.startsWith('GET');

/** Puts reads first, because the other rows create resources that would appear in lists. */
const inOrder = (rows: readonly MatrixRow[]): MatrixRow[] => [
  ...rows.filter(isRead),
  ...rows.filter((row) => !isRead(row)),
];

/** The responses to all callers of one row, and the traces of the successful requests. */
type Outcome = {
  readonly answers: MatrixResponses;
  readonly traces: ReadonlyMap<string, RecordedTraces>;
  /** Types of resources in successful reads that the trail must record, by caller. */
  readonly returnedTypes: ReadonlyMap<string, readonly string[]>;
};

/** Sends the request of a row as every caller. Refused callers come first, and must append no event. */
const sendToAll = async (row: MatrixRow, world: MatrixWorld): Promise<Outcome> => {
  const answers = new Map<string, string>();
  const traces = new Map<string, RecordedTraces>();
  const returnedTypes = new Map<string, readonly string[]>();
  const target = (caller: MatrixCallerInWorld): Params => row.about.params(caller, world);
  const record = (caller: MatrixCallerInWorld, answer: ApiResponse): void =>
    void answers.set(caller.name, answerOf(row, answer));
  const mayDoIt = (caller: MatrixCallerInWorld): boolean => !/^40[134]$/.test(expectedOf(row, caller, world));
  await row.setUp?.(world);
  const before = await logLength(world.server.store);
  await each(
    world.callers.filter((caller) => !mayDoIt(caller)),
    async (caller) =>
      record(caller, await sendMatrixRequest(row, { world, caller, api: caller.api, params: target(caller) })),
  );
  expect(await logLength(world.server.store)).toBe(before);
  const doIt = async (caller: MatrixCallerInWorld): Promise<void> => {
    const fresh = row.fresh ? await row.about.fresh?.(caller, world) : undefined;
    const cell = { world, caller, api: caller.api, params: target(caller), ...fresh };
    await row.before?.(cell);
    const end = await logEnd(world.server.store);
    const answer = await sendMatrixRequest(row, cell);
    record(caller, answer);
    if (answer.status >= 400) return;
    // Other callers read at the same time.
    const request = answer.headers.get('x-request-id') ?? '';
    const pendingTraces = isRead(row)
      ? tracesOf(world.server.store, end, request)
      : tracesSince(world.server.store, end);
    traces.set(caller.name, await pendingTraces);
    if (isRead(row)) returnedTypes.set(caller.name, shownIn(answer.body));
  };
  const allowed = world.callers.filter(mayDoIt);
  if (isRead(row)) await each(allowed, doIt);
  else for (const caller of allowed) await doIt(caller);
  await row.tearDown?.(world);
  return { answers, traces, returnedTypes };
};

/** Returns the successes whose trail entries differ from the row, or that appended no event although they should. */
const findTrailDifferences = (row: MatrixRow, { traces, returnedTypes }: Outcome): string[] => {
  const { trail = [], inert } = row;
  const isQuiet = isRead(row) ? trail.length === 0 : (inert ?? false);
  return [...traces].flatMap(([caller, { events, entries }]) => [
    ...(isDeepStrictEqual(entries, trail) ? [] : [`${caller}: the trail has ${entries.join(', ') || 'nothing'}`]),
    ...((events.length === 0) === isQuiet ? [] : [`${caller}: ${events.length} types of events in the log`]),
    // The trail of an organization does not record reads of tokens of users and for SCIM.
    ...(returnedTypes.get(caller) ?? [])
      .filter(
        (type) =>
          !TOKENS_OF_SITE.includes(row.condition ?? '') && !entries.some((entry) => entry.startsWith(`${type} `)),
      )
      .map((type) => `${caller}: reads a ${type}, and the trail has no entry`),
  ]);
};

/** Returns the events of successes that the description of the API does not have (`x-event`). */
const findUndescribedEvents = (row: MatrixRow, { traces }: Outcome, world: MatrixWorld): string[] => {
  const [caller] = world.callers;
  const { method, path } = addressOf(row, caller ? row.about.params(caller, world) : {});
  const described = findDescribedOperation(method, path)?.['x-event'];
  const recorded = [...new Set([...traces.values()].flatMap(({ events }) => events))];
  return described ? recorded.filter((event) => !described.includes(event)) : [];
};

/** Returns an id of the same form that does not exist. */
const absent = (value: string): string =>
  value.replace(/^([a-z]+-)?.*$/, (_, prefix = 'no-') => `${prefix}${'x'.repeat(16)}`);

const besides = (params: Params): Params[] =>
  Object.keys(params).map((name) => ({ ...params, [name]: absent(params[name] ?? '') }));

/** Returns the response without the ids in the request. */
const comparable = ({ status, text, headers }: ApiResponse, params: Params): unknown => ({
  status,
  type: headers.get('content-type'),
  text: Object.values(params).reduce((rest, value) => rest.replaceAll(value, '…'), text),
});

const hasParameter = ({ route, demands }: MatrixRow): boolean => route.includes(':') && demands !== 'anybody';

/** Returns a caller from outside and one from inside who must not see the target. */
const strangersTo = (row: MatrixRow, world: MatrixWorld): MatrixCallerInWorld[] =>
  [
    ({ foreign }: MatrixCallerInWorld) => foreign === true,
    ({ roles }: MatrixCallerInWorld) => roles.includes('member'),
  ].flatMap((is) =>
    world.callers.filter((caller) => is(caller) && expectedOf(row, caller, world) === '404').slice(0, 1),
  );

type RefusalTexts = { readonly forbidden: unknown; readonly notFound: unknown };

/**
 * Returns the responses that a stranger gets for an existing and for an unknown target, with a valid and with an
 * invalid body.
 */
const compareRefusals = async (
  caller: MatrixCallerInWorld,
  row: MatrixRow,
  world: MatrixWorld,
): Promise<RefusalTexts[]> => {
  const params = row.about.params(caller, world);
  const sendValid = (about: Params) => sendMatrixRequest(row, { world, caller, api: caller.api, params: about });
  const sendInvalid = (about: Params) => {
    const { method, path } = addressOf(row, about);
    return method === 'GET' ? sendValid(about) : send(caller.api, method, path, { data: 7 });
  };
  const refusals: RefusalTexts[] = [];
  for (const unknown of besides(params)) {
    for (const request of [sendValid, sendInvalid]) {
      refusals.push({
        forbidden: comparable(await request(params), params),
        notFound: comparable(await request(unknown), unknown),
      });
    }
  }
  return refusals;
};

const wasDone = (answers: MatrixResponses = new Map()): boolean =>
  [...answers.values()].some((answer) => /^(?:2|303)/.test(answer));

/** The rows, and the responses to every caller by the name of the row. */
export type MatrixResults = {
  readonly rows: readonly MatrixRow[];
  readonly world: () => MatrixWorld;
  readonly answers: ReadonlyMap<string, MatrixResponses>;
};

/** Sends each row as every caller. `more` adds tests that use the same responses. */
export const describeMatrix = (
  name: string,
  rows: readonly MatrixRow[],
  more?: (results: MatrixResults) => void,
): void => {
  const answers = new Map<string, MatrixResponses>();
  let world: MatrixWorld;

  beforeAll(async () => {
    world = await startMatrixWorld({ env: REACHES_RECEIVERS });
  });

  afterAll(async () => {
    await world.server.close();
    const cells = [...answers.values()].reduce((sum, { size }) => sum + size, 0);
    process.stdout.write(`matrix of ${name}: ${answers.size} rows, ${CALLERS.length} callers, ${cells} cells\n`);
  });

  describe(`${name}: every route follows the permission table for every kind of caller`, () => {
    it.each(inOrder(rows).map((row) => [nameOf(row), row] as const))('%s', async (called, row) => {
      const outcome = await sendToAll(row, world);
      answers.set(called, outcome.answers);
      expect(differences(row, outcome.answers, world).map(inWords)).toEqual([]);
      expect(findTrailDifferences(row, outcome)).toEqual([]);
      expect(findUndescribedEvents(row, outcome, world)).toEqual([]);
    });
  });

  describe(`${name}: the audit trail`, () => {
    it('has been checked for every route that changes something', () => {
      const recordedRoutes = new Set(rows.filter((row) => wasDone(answers.get(nameOf(row)))).map(({ route }) => route));
      expect(
        rows.filter((row) => !isRead(row) && !row.successes && !recordedRoutes.has(row.route)).map(nameOf),
      ).toEqual([]);
    });
  });

  describe(`${name}: a hidden resource gets the same response as an unknown one`, () => {
    it.each(rows.filter(hasParameter).map((row) => [nameOf(row), row] as const))('%s', async (_, row) => {
      const refusals = await Promise.all(strangersTo(row, world).map((caller) => compareRefusals(caller, row, world)));
      for (const { forbidden, notFound } of refusals.flat()) expect(notFound).toEqual(forbidden);
    });
  });

  more?.({ rows, world: () => world, answers });
};

const inWords = ({ caller, expected, answered }: MatrixDifference): string =>
  `${caller}: got ${answered}, expected ${expected}`;
