import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdjustableClock } from '../support/clocks.js';
import { logLength } from '../support/event-log.js';
import { startTestServer, type ApiResponse, type TestServer } from '../support/server.js';
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
import { logEnd, shownIn, tracesOf, tracesSince, type RecordedTraces } from './trail.js';
import type { MatrixCallerInWorld, MatrixWorld } from './shared-world.js';
import { createCallers } from './world.js';

const AT_ONCE = 8;

/** In some order, not too many at once. */
const each = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

const isRead = ({ route }: MatrixRow): boolean => route.startsWith('GET');

/** Reads come first: what the others make would be in their lists. */
const inOrder = (rows: readonly MatrixRow[]): MatrixRow[] => [
  ...rows.filter(isRead),
  ...rows.filter((row) => !isRead(row)),
];

/** Everybody's answers to one row, and what those who got through with it have left behind. */
type Outcome = {
  readonly answers: MatrixResponses;
  readonly traces: ReadonlyMap<string, RecordedTraces>;
  /** What reads have shown of which the trail must tell. */
  readonly attributesByResource: ReadonlyMap<string, readonly string[]>;
};

/** Who is refused asks first, and leaves nothing in the log. */
const askAll = async (row: MatrixRow, world: MatrixWorld): Promise<Outcome> => {
  const answers = new Map<string, string>();
  const traces = new Map<string, RecordedTraces>();
  const attributesByResource = new Map<string, readonly string[]>();
  const target = (caller: MatrixCallerInWorld): Params => row.about.params(caller, world);
  const keep = (caller: MatrixCallerInWorld, answer: ApiResponse): void =>
    void answers.set(caller.name, answerOf(row, answer));
  const mayDoIt = (caller: MatrixCallerInWorld): boolean => !/^40[134]$/.test(expectedOf(row, caller, world));
  await row.setUp?.(world);
  const before = await logLength(world.server.store);
  await each(
    world.callers.filter((caller) => !mayDoIt(caller)),
    async (caller) =>
      keep(caller, await sendMatrixRequest(row, { world, caller, api: caller.api, params: target(caller) })),
  );
  expect(await logLength(world.server.store)).toBe(before);
  const doIt = async (caller: MatrixCallerInWorld): Promise<void> => {
    const fresh = row.fresh ? await row.about.fresh?.(caller, world) : undefined;
    const cell = { world, caller, api: caller.api, params: target(caller), ...fresh };
    await row.before?.(cell);
    const end = await logEnd(world.server.store);
    const answer = await sendMatrixRequest(row, cell);
    keep(caller, answer);
    if (answer.status >= 400) return;
    // Others read at the same time.
    const request = answer.headers.get('x-request-id') ?? '';
    const left = isRead(row) ? tracesOf(world.server.store, end, request) : tracesSince(world.server.store, end);
    traces.set(caller.name, await left);
    if (isRead(row)) attributesByResource.set(caller.name, shownIn(answer.body));
  };
  const allowed = world.callers.filter(mayDoIt);
  if (isRead(row)) await each(allowed, doIt);
  else for (const caller of allowed) await doIt(caller);
  await row.tearDown?.(world);
  return { answers, traces, attributesByResource };
};

/** Where the trail tells something else of a success than the row does, or where nothing has happened. */
const mistold = (row: MatrixRow, { traces, attributesByResource }: Outcome): string[] => {
  const { trail = [], inert } = row;
  const isQuiet = isRead(row) ? trail.length === 0 : (inert ?? false);
  return [...traces].flatMap(([caller, { events, entries }]) => [
    ...(isDeepStrictEqual(entries, trail) ? [] : [`${caller}: the trail tells ${entries.join(', ') || 'nothing'}`]),
    ...((events === 0) === isQuiet ? [] : [`${caller}: ${events} events in the log`]),
    // A user's own token is no organization's.
    ...(attributesByResource.get(caller) ?? [])
      .filter((type) => row.condition !== 'of a user' && !entries.some((entry) => entry.startsWith(`${type} `)))
      .map((type) => `${caller}: is shown a ${type}, and the trail does not tell`),
  ]);
};

/** Of the same shape, and of nothing that there is. */
const absent = (value: string): string =>
  value.replace(/^([a-z]+-)?.*$/, (_, prefix = 'no-') => `${prefix}${'x'.repeat(16)}`);

const besides = (params: Params): Params[] =>
  Object.keys(params).map((name) => ({ ...params, [name]: absent(params[name] ?? '') }));

/** What an answer says, but for the names in the question. */
const said = ({ status, text, headers }: ApiResponse, params: Params): unknown => ({
  status,
  type: headers.get('content-type'),
  text: Object.values(params).reduce((rest, value) => rest.replaceAll(value, '…'), text),
});

const hasParameter = ({ route, demands }: MatrixRow): boolean => route.includes(':') && demands !== 'anybody';

/** Who may not see it, from outside and from inside. */
const strangersTo = (row: MatrixRow, world: MatrixWorld): MatrixCallerInWorld[] =>
  [
    ({ foreign }: MatrixCallerInWorld) => foreign === true,
    ({ roles }: MatrixCallerInWorld) => roles.includes('member'),
  ].flatMap((is) =>
    world.callers.filter((caller) => is(caller) && expectedOf(row, caller, world) === '404').slice(0, 1),
  );

type RefusalTexts = { readonly forbidden: unknown; readonly notFound: unknown };

/** What a stranger is told about something, and about what there is not, asked properly and with a senseless body. */
const toldTo = async (caller: MatrixCallerInWorld, row: MatrixRow, world: MatrixWorld): Promise<RefusalTexts[]> => {
  const params = row.about.params(caller, world);
  const askFor = (about: Params) => sendMatrixRequest(row, { world, caller, api: caller.api, params: about });
  const sendTo = (about: Params) => {
    const { method, path } = addressOf(row, about);
    return method === 'GET' ? askFor(about) : send(caller.api, method, path, { data: 7 });
  };
  const told: RefusalTexts[] = [];
  for (const other of besides(params)) {
    for (const question of [askFor, sendTo]) {
      told.push({ forbidden: said(await question(params), params), notFound: said(await question(other), other) });
    }
  }
  return told;
};

const wasDone = (answers: MatrixResponses = new Map()): boolean =>
  [...answers.values()].some((answer) => answer.startsWith('2'));

/** What was asked, and what everybody was answered, by the row's name. */
export type MatrixResults = {
  readonly rows: readonly MatrixRow[];
  readonly world: () => MatrixWorld;
  readonly answers: ReadonlyMap<string, MatrixResponses>;
};

/** Asks everybody everything. `more` is for tests that look at the answers in other ways. */
export const describeMatrix = (
  name: string,
  rows: readonly MatrixRow[],
  more?: (asked: MatrixResults) => void,
): void => {
  const answers = new Map<string, MatrixResponses>();
  let server: TestServer;
  let world: MatrixWorld;

  beforeAll(async () => {
    const clock = new AdjustableClock();
    server = await startTestServer({ clock, followers: true });
    world = await createCallers(server, clock);
  });

  afterAll(async () => {
    await server.close();
    const cells = [...answers.values()].reduce((sum, { size }) => sum + size, 0);
    process.stdout.write(`matrix of ${name}: ${answers.size} rows, ${CALLERS.length} callers, ${cells} cells\n`);
  });

  describe(`${name}: every route answers every kind of caller as the table says`, () => {
    it.each(inOrder(rows).map((row) => [nameOf(row), row] as const))('%s', async (called, row) => {
      const asked = await askAll(row, world);
      answers.set(called, asked.answers);
      expect(differences(row, asked.answers, world).map(inWords)).toEqual([]);
      expect(mistold(row, asked)).toEqual([]);
    });
  });

  describe(`${name}: what is said of the trail`, () => {
    it('has been seen at every route that changes something', () => {
      const seen = new Set(rows.filter((row) => wasDone(answers.get(nameOf(row)))).map(({ route }) => route));
      expect(rows.filter((row) => !isRead(row) && !seen.has(row.route)).map(nameOf)).toEqual([]);
    });
  });

  describe(`${name}: what a caller may not see is as if it were not there`, () => {
    it.each(rows.filter(hasParameter).map((row) => [nameOf(row), row] as const))('%s', async (_, row) => {
      const told = await Promise.all(strangersTo(row, world).map((caller) => toldTo(caller, row, world)));
      for (const { forbidden, notFound } of told.flat()) expect(notFound).toEqual(forbidden);
    });
  });

  more?.({ rows, world: () => world, answers });
};

const inWords = ({ caller, expected, answered }: MatrixDifference): string =>
  `${caller}: ${answered}, and not ${expected}`;
