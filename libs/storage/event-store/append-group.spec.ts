import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileStatement, sql } from '#platform/kernel';
import {
  buildGroupTransaction,
  isOutdated,
  judgeFailure,
  listNewVersions,
  MAX_GROUP_APPENDS,
  takeGroup,
  type GroupedAppend,
} from './append-group.js';
import { createLampLit } from './spec.js';
import { expectVersion, type StreamWrite } from './writes.js';

const write = (stream: string, expected: StreamWrite['expected'] = 1, organization = 'org-1'): StreamWrite => ({
  stream,
  organization,
  expected,
  events: [createLampLit('ada')],
});

const toAppend = (...writes: readonly StreamWrite[]): GroupedAppend => ({
  writes,
  people: [],
  writers: [],
  appends: writes.filter(({ events }) => events.length > 0).map(({ stream }) => sql`append to ${stream}`),
  projections: [sql`update of ${writes[0]?.stream}`],
  reads: [],
});

const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `lamp-${name}`);
const anyWrite = fc
  .record({
    stream: fc.constantFrom(...names),
    organization: fc.constantFrom('org-1', 'org-2'),
    expected: fc.constantFrom(1, 2),
    isPrecondition: fc.boolean(),
  })
  .map(({ stream, organization, expected, isPrecondition }) =>
    isPrecondition ? expectVersion(stream, expected) : write(stream, expected, organization),
  );
const anyAppend = fc
  .uniqueArray(anyWrite, { selector: ({ stream }) => stream, minLength: 1, maxLength: 3 })
  .map((writes) => toAppend(...writes));
const anyAppends = (maxLength: number) => fc.array(anyAppend, { maxLength });

const areCompatible = (a: GroupedAppend, b: GroupedAppend): boolean =>
  a.writes.every((one) =>
    b.writes.every(
      (other) =>
        one.stream !== other.stream ||
        (one.events.length + other.events.length === 0 && one.expected === other.expected),
    ),
  );

const failure = (code: string, statement: number | null, detail?: readonly string[]) => ({
  cause: { code, ...(detail ? { detail: JSON.stringify(detail) } : {}) },
  statement,
});

describe('takeGroup', () => {
  it('takes the first append if no group runs, loses none, and keeps their order', () => {
    fc.assert(
      fc.property(anyAppends(80), (queue) => {
        const { group, rest } = takeGroup(queue, []);
        expect(group[0]).toBe(queue[0]);
        expect(group.length).toBeLessThanOrEqual(MAX_GROUP_APPENDS);
        expect(queue.filter((append) => group.includes(append))).toEqual(group);
        expect(queue.filter((append) => !group.includes(append))).toEqual(rest);
      }),
    );
  });

  it('never takes two appends of one stream, nor an append with a precondition that another one breaks', () => {
    fc.assert(
      fc.property(anyAppends(20), anyAppends(3), (queue, earlier) => {
        const { group: running } = takeGroup(earlier, []);
        const { group } = takeGroup(queue, running);
        const organizations = running.flatMap(({ writes }) => writes.flatMap(({ organization }) => organization ?? []));
        for (const [n, append] of group.entries()) {
          expect(group.slice(n + 1).every((other) => areCompatible(append, other))).toBe(true);
          expect(running.every((other) => areCompatible(append, other))).toBe(true);
          expect(
            append.writes.some(({ organization }) => organization !== null && organizations.includes(organization)),
          ).toBe(false);
        }
      }),
    );
  });
});

describe('buildGroupTransaction', () => {
  it('checks each precondition once and reads rows of the same query with one statement', () => {
    const read = (key: string, colour = 'red') => ({
      key,
      column: 'id',
      select: (keys: readonly string[]) => sql`select id from lamps where id = any (${keys}) and colour = ${colour}`,
    });
    const group = [
      { ...toAppend(expectVersion('org-1', 7), write('lamp-a')), reads: [read('lamp-a'), sql`select 1`] },
      { ...toAppend(expectVersion('org-1', 7), write('lamp-b')), reads: [read('lamp-b')] },
      { ...toAppend(write('lamp-c')), reads: [read('lamp-c', 'blue')] },
    ];
    const { statements, pick } = buildGroupTransaction(group);
    const [begin, ...others] = statements.map(compileStatement);
    expect(begin?.values).toEqual([[], [], ['org-1'], ['lamp-a', 'lamp-b', 'lamp-c'], ['org-1'], [7]]);
    expect(others.map(({ text }) => text.split(' ')[0])).toEqual(
      'append update select append update append update select select'.split(' '),
    );
    const results = statements.map((_, n) => (n === 8 ? [{ id: 'lamp-b' }, { id: 'lamp-a' }] : [{ id: 'lamp-c', n }]));
    expect(group.map((append) => pick(append, results))).toEqual([
      [[{ id: 'lamp-a' }], [{ id: 'lamp-c', n: 3 }]],
      [[{ id: 'lamp-b' }]],
      [[{ id: 'lamp-c', n: 9 }]],
    ]);
  });
});

describe('judgeFailure', () => {
  const [a, b, c] = [
    toAppend(write('lamp-a')),
    toAppend(write('lamp-b')),
    toAppend(expectVersion('org-1', 1), write('lamp-c')),
  ];
  const group = [a, b, c];
  const judge = (...[code, statement, detail]: Parameters<typeof failure>) =>
    judgeFailure(group, buildGroupTransaction(group), failure(code, statement, detail));

  it.each([
    [
      'refuses an append whose stream has another version, and repeats the others',
      'CA409',
      3,
      undefined,
      { refused: [b], alone: [], repeated: [a, c] },
    ],
    [
      'refuses the appends whose precondition fails',
      'CA409',
      0,
      ['org-1'],
      { refused: [c], alone: [], repeated: [a, b] },
    ],
    [
      'sends an append alone if its stream is locked',
      'CA423',
      0,
      ['lamp-a'],
      { refused: [], alone: [a], repeated: [b, c] },
    ],
    [
      'sends an append alone if a view refuses it, because another append may be the cause',
      '23505',
      4,
      undefined,
      { refused: [], alone: [b], repeated: [a, c] },
    ],
    ['sends all alone after a deadlock', '40P01', 4, undefined, { refused: [], alone: group, repeated: [] }],
    ['sends all alone if a person was forgotten', 'CA401', 0, undefined, { refused: [], alone: group, repeated: [] }],
    ['sends all alone if the commit failed', '23503', 7, undefined, { refused: [], alone: group, repeated: [] }],
    [
      'refuses all if the transaction may have been committed',
      '57P01',
      null,
      undefined,
      { refused: group, alone: [], repeated: [] },
    ],
  ] as const)('%s', (_, code, statement, detail, expected) => {
    expect(judge(code, statement, detail)).toEqual(expected);
  });

  it('refuses a single append, but sends it alone if its stream is locked', () => {
    const judgeOne = (code: string) => judgeFailure([a], buildGroupTransaction([a]), failure(code, 0, ['lamp-a']));
    expect(judgeOne('23505')).toEqual({ refused: [a], alone: [], repeated: [] });
    expect(judgeOne('CA423')).toEqual({ refused: [], alone: [a], repeated: [] });
  });

  it('decides about each append exactly once, whatever fails', () => {
    const codes = fc.constantFrom('CA409', 'CA423', 'CA401', '23505', '22001', '40P01', '57014', '55P03');
    fc.assert(
      fc.property(
        anyAppends(20),
        codes,
        fc.nat(60),
        fc.option(fc.subarray(names)),
        (queue, code, statement, detail) => {
          const { group: some } = takeGroup(queue, []);
          fc.pre(some.length > 0);
          const judgment = judgeFailure(
            some,
            buildGroupTransaction(some),
            failure(code, statement, detail ?? undefined),
          );
          const decided = [...judgment.refused, ...judgment.alone, ...judgment.repeated];
          expect(decided).toHaveLength(some.length);
          expect(new Set(decided)).toEqual(new Set(some));
        },
      ),
    );
  });
});

describe('isOutdated', () => {
  it('is true for appends that depend on an older version than the group has written', () => {
    const versions = listNewVersions([
      toAppend(write('lamp-a', 3), expectVersion('org-1', 5)),
      toAppend(write('lamp-b', 'any')),
    ]);
    expect(isOutdated(toAppend(write('lamp-a', 3)), versions)).toBe(true);
    expect(isOutdated(toAppend(expectVersion('lamp-a', 3), write('lamp-c', 0)), versions)).toBe(true);
    expect(isOutdated(toAppend(write('lamp-a', 4)), versions)).toBe(false);
    expect(isOutdated(toAppend(expectVersion('org-1', 5), write('lamp-a', 'any')), versions)).toBe(false);
    expect(isOutdated(toAppend(write('lamp-b', 1)), versions)).toBe(false);
  });
});
