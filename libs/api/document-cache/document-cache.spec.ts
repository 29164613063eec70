import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DocumentKind, Identity } from '#api/access';
import type { LogChange } from '#storage/event-store';
import { sql, type Projection } from '#platform/kernel';
import { FixedClock } from '../../../test/support/clocks.js';
import { DocumentDependencies, type DocumentScope } from './dependencies.js';
import { DocumentCache, type KeptDocument } from './document-cache.js';

const KIB = 1_024;

const nothing = () => sql`select 1`;

const projections = [
  {
    name: 'workspaces',
    tables: ['workspaces'],
    on: { Renamed: nothing, Commented: null, OrganizationRenamed: nothing },
  },
  { name: 'tags', tables: ['tags'], on: { Tagged: nothing } },
] as unknown as readonly Projection[];

const WORKSPACE: DocumentKind = { name: 'workspace', tables: ['workspaces'] };
const ADA = { id: 'user-ada' } as Identity;
const BEA = { id: 'user-bea' } as Identity;

const inWorkspace = (workspace: string | null, organization = 'org-1'): DocumentScope => ({ organization, workspace });

let changes = 0;

const change = (type: string, stream: string, other: Partial<LogChange> = {}): LogChange => ({
  id: String((changes += 1)),
  type,
  stream,
  organization: 'org-1',
  workspace: null,
  ...other,
});

let clock: FixedClock;
let cache: DocumentCache;

const openCache = (bytes: number): DocumentCache =>
  new DocumentCache(bytes, new DocumentDependencies(projections), clock);

beforeEach(() => {
  clock = new FixedClock();
  cache = openCache(64 * KIB);
});

/** Reads a document and keeps it. */
const keep = (url: string, scope: DocumentScope, { body = `body of ${url}`, identity = ADA, kind = WORKSPACE } = {}) =>
  cache.keep(cache.createTicket(), { identity, url, body: Buffer.from(body), contentType: 'text/plain', kind, scope });

/** Keeps a list that is made of kept resources. */
const makeList = (url: string, body = url) =>
  cache.keepRepeated({
    identity: ADA,
    url,
    body: Buffer.from(body),
    contentType: 'text/plain',
    kind: WORKSPACE,
    scope: inWorkspace(null),
  });

const find = (url: string, identity = ADA): string | null => cache.find(identity, url)?.body.toString() ?? null;

describe('a kept document', () => {
  it('that is made of kept resources is kept the second time, and again the second time after others', () => {
    makeList('/list');
    expect(find('/list')).toBeNull();
    makeList('/list');
    expect(find('/list')).toBe('/list');
    makeList('/once');
    for (let page = 1; page <= 20; page += 1) makeList(`/${page}`, 'x'.repeat(4 * KIB));
    makeList('/once');
    expect(find('/once')).toBeNull();
  });

  it('that is made of kept resources is kept if so many others take turns with it as fit in the memory', () => {
    const urls = Array.from({ length: 100 }, (_, n) => `/${n}`);
    for (const url of [...urls, ...urls]) makeList(url);
    expect(urls.map((url) => find(url))).toEqual(urls);
  });

  it('that is made of kept resources is kept again after a change, although others were made since the first time', () => {
    makeList('/list');
    for (let page = 1; page <= 20; page += 1) {
      makeList('/list');
      cache.onChanges([change('Renamed', 'ws-1')]);
      makeList(`/${page}`, 'x'.repeat(4 * KIB));
    }
    makeList('/list');
    expect(find('/list')).toBe('/list');
  });

  it('is found by its caller and its exact address', () => {
    keep('/one', inWorkspace('ws-1'));
    expect([find('/one'), find('/one?'), find('/one', BEA)]).toEqual(['body of /one', null, null]);
  });

  it('stays when simultaneous reads of it end, so that requests that wait for it need not read', () => {
    keep('/one', inWorkspace('ws-1'));
    const document = cache.find(ADA, '/one') as KeptDocument;
    keep('/one', inWorkspace('ws-1'));
    expect([document.isCurrent, cache.find(ADA, '/one')]).toEqual([true, document]);
  });

  it('is not found after a minute, because operators can change views without an event', () => {
    keep('/one', inWorkspace('ws-1'));
    clock.pass({ seconds: 60 });
    expect(find('/one')).toBe('body of /one');
    clock.pass({ ms: 1 });
    expect(find('/one')).toBeNull();
  });

  it.each([
    ['an event of its own stream', change('Renamed', 'ws-1')],
    ['an event that names its workspace', change('Renamed', 'run-1', { workspace: 'ws-1' })],
    ['an event of its organization that names no workspace', change('OrganizationRenamed', 'org-1')],
    ['an event without an organization', change('Renamed', 'user-1', { organization: null })],
    ['the end of a person', change('UserForgotten', 'user-1', { organization: null })],
  ])('is dropped by %s', (_, event) => {
    keep('/one', inWorkspace('ws-1'));
    const document = cache.find(ADA, '/one') as KeptDocument;
    cache.onChanges([event]);
    expect([find('/one'), document.isCurrent]).toEqual([null, false]);
  });

  it.each([
    ['an event of another workspace', change('Renamed', 'ws-2')],
    ['an event that names another workspace', change('Renamed', 'run-1', { workspace: 'ws-2' })],
    ['an event of another organization', change('OrganizationRenamed', 'org-2', { organization: 'org-2' })],
    ['an event that changes only other tables', change('Tagged', 'ws-1')],
    ['an event that its projection ignores', change('Commented', 'ws-1')],
  ])('stays after %s', (_, event) => {
    keep('/one', inWorkspace('ws-1'));
    cache.onChanges([event]);
    expect(find('/one')).toBe('body of /one');
  });

  it('is dropped by an event of any workspace of its organization if it is a list', () => {
    keep('/list', inWorkspace(null));
    cache.onChanges([change('Renamed', 'ws-2')]);
    expect(find('/list')).toBeNull();
  });

  it('is dropped when anything may have changed', () => {
    keep('/one', inWorkspace('ws-1'));
    cache.onUnknownChanges();
    expect(find('/one')).toBeNull();
  });
});

describe('a read', () => {
  const keepWith = (ticket: ReturnType<DocumentCache['createTicket']>): void =>
    cache.keep(ticket, {
      identity: ADA,
      url: '/one',
      body: Buffer.from('one'),
      contentType: 'text/plain',
      kind: WORKSPACE,
      scope: inWorkspace('ws-1'),
    });

  it.each([
    ['keeps its document if other things change meanwhile', () => cache.onChanges([change('Renamed', 'ws-2')]), 'one'],
    ['keeps nothing if the document changes meanwhile', () => cache.onChanges([change('Renamed', 'ws-1')]), null],
    ['keeps nothing if anything may have changed meanwhile', () => cache.onUnknownChanges(), null],
    [
      'keeps nothing if more changes come than are remembered',
      () => cache.onChanges(Array.from({ length: 2_001 }, () => change('Renamed', 'ws-2'))),
      null,
    ],
  ])('%s', (_, happens, body) => {
    const ticket = cache.createTicket();
    happens();
    keepWith(ticket);
    expect(find('/one')).toBe(body);
  });
});

describe('the memory', () => {
  it('drops the least recently used documents beyond its limit', () => {
    cache = openCache(16 * KIB);
    const urls = Array.from({ length: 12 }, (_, n) => `/${n}`);
    const body = 'x'.repeat(KIB);
    for (const url of urls.slice(0, 11)) keep(url, inWorkspace('ws-1'), { body });
    find('/0');
    keep('/11', inWorkspace('ws-1'), { body });
    expect(urls.filter((url) => find(url) === null)).toEqual(['/1']);
  });

  it('keeps no document that takes an eighth of it', () => {
    keep('/large', inWorkspace('ws-1'), { body: 'x'.repeat(8 * KIB) });
    expect(find('/large')).toBeNull();
  });
});

type Step =
  | { readonly step: 'write'; readonly workspace: number }
  | { readonly step: 'start'; readonly workspace: number }
  | { readonly step: 'writeAll' }
  | { readonly step: 'check' }
  | { readonly step: 'lose' }
  | { readonly step: 'finish'; readonly read: number };

const WORKSPACES = 3;

const workspaceNumber = fc.nat(WORKSPACES - 1);
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ step: fc.constantFrom('write', 'start'), workspace: workspaceNumber }) },
    { weight: 3, arbitrary: fc.record({ step: fc.constant('finish'), read: fc.nat(5) }) },
    { weight: 3, arbitrary: fc.record({ step: fc.constant('check') }) },
    fc.record({ step: fc.constantFrom('writeAll', 'lose') }),
  ) as fc.Arbitrary<Step>,
  { minLength: 20, maxLength: 100 },
);

describe('a document that is found after a check', () => {
  it('is always the present one, in whatever order writes, reads and checks come', () => {
    let foundCount = 0;
    fc.assert(
      fc.property(steps, (sequence) => {
        cache = openCache(64 * KIB);
        const versions = Array.from({ length: WORKSPACES }, () => 0);
        const log: LogChange[] = [];
        const reads: { workspace: number; body: string; ticket: ReturnType<DocumentCache['createTicket']> }[] = [];
        let checked = 0;
        const run: { readonly [S in Step['step']]: (step: Extract<Step, { step: S }>) => void } = {
          write: ({ workspace }) => {
            versions[workspace] = (versions[workspace] as number) + 1;
            log.push(change('Renamed', `ws-${workspace}`));
          },
          writeAll: () => {
            versions.forEach((version, workspace) => (versions[workspace] = version + 1));
            log.push(change('OrganizationRenamed', 'org-1'));
          },
          start: ({ workspace }) => {
            reads.push({ workspace, body: String(versions[workspace]), ticket: cache.createTicket() });
          },
          finish: ({ read }) => {
            const [ended] = reads.splice(read % Math.max(reads.length, 1), 1);
            if (!ended) return;
            const { workspace, body, ticket } = ended;
            const scope = inWorkspace(`ws-${workspace}`);
            cache.keep(ticket, {
              identity: ADA,
              url: `/${workspace}`,
              body: Buffer.from(body),
              contentType: '',
              kind: WORKSPACE,
              scope,
            });
          },
          check: () => {
            cache.onChanges(log.slice(checked));
            checked = log.length;
            for (const [workspace, version] of versions.entries()) {
              const body = find(`/${workspace}`);
              if (body === null) continue;
              foundCount += 1;
              expect(body).toBe(String(version));
            }
          },
          lose: () => {
            cache.onUnknownChanges();
            checked = log.length;
          },
        };
        for (const step of sequence) (run[step.step] as (step: Step) => void)(step);
      }),
      { numRuns: 500 },
    );
    expect(foundCount).toBeGreaterThan(100);
  });
});
