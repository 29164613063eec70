import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** A house in small, with the real rules over it: what stands there may be imported, or must not be. */
const SMALL_HOUSE: Readonly<Record<string, string>> = {
  'libs/kernel/index.ts': `export * from './message.js';`,
  'libs/kernel/message.ts': `export type Message = string; export const message = 'm';`,
  'libs/event-store/index.ts': `export { store } from './store.js'; export type { Store } from './store.js';`,
  'libs/event-store/store.ts': `import pg from 'pg'; export const store = pg; export type Store = typeof store;`,
  'libs/message-log/index.ts': `export { log } from './log.js';`,
  'libs/message-log/log.ts': `import { Kafka } from 'kafkajs'; export const log = Kafka;`,
  'libs/json-api/index.ts': `export const document = 1;`,
  'libs/access/index.ts': `export * from './rules.js'; export const guard = 1;`,
  'libs/access/rules.ts': `export * from './actor.js';`,
  'libs/access/actor.ts': `import { message } from '#kernel'; export const actor = message;`,
  'libs/host/index.ts': `export const settings = 1;`,
  'libs/provider-release/index.ts': `export * from './rules.js'; export { key } from './signing-key.js';`,
  'libs/provider-release/rules.ts': `
    import { parse } from 'semver';
    import { message } from '#kernel';
    export const version = [parse, message];`,
  'libs/provider-release/signing-key.ts': `import { readKey } from 'openpgp'; export const key = readKey;`,
  'libs/tags/index.ts': `export { tagsSlice } from './tags.slice.js'; export type { Tag } from './tag.js';`,
  'libs/tags/tag.ts': `export type Tag = string; export const tag = 't';`,
  'libs/tags/to-tag.ts': `export class ToTag {}`,
  'libs/tags/tags.slice.ts': `export const tagsSlice = 1;`,
  'apps/slices.ts': `import { tagsSlice } from '#tags'; export const slices = [tagsSlice];`,
  'apps/gateway/src/gateway.ts': `import { slices } from '../../slices.js'; export const gateway = slices;`,
  'test/support/server.ts': `import { slices } from '../../apps/slices.js'; export const server = slices;`,
};

type Planted = { readonly rule: string; readonly file: string; readonly content: string };

const VIOLATIONS: readonly Planted[] = [
  {
    rule: 'no-cycles',
    file: 'libs/json-api/hen.ts',
    content: `import { egg } from './egg.js'; export const hen = egg;`,
  },
  {
    rule: 'no-cycles',
    file: 'libs/json-api/egg.ts',
    content: `import { hen } from './hen.js'; export const egg = hen;`,
  },
  { rule: 'no-unresolved', file: 'libs/host/lost.ts', content: `export * from './nowhere.js';` },
  { rule: 'no-unresolved', file: 'apps/gateway/src/lost.ts', content: `export * from '#nowhere';` },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/nest.ts',
    content: `import { Injectable } from '@nestjs/common'; export const run = Injectable;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/node.ts',
    content: `import { randomUUID } from 'node:crypto'; export const id = randomUUID();`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/store.ts',
    content: `import type { Store } from '#event-store'; export type Run = Store;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/wired.ts',
    content: `import { queries } from './runs.queries.js'; export const run = queries;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/asked.ts',
    content: `import { actor } from '#access'; export const run = actor;`,
  },
  {
    rule: 'access-rules-are-pure',
    file: 'libs/access/permissions.ts',
    content: `import { guard } from './index.js'; export const permissions = guard;`,
  },
  {
    rule: 'access-rules-are-pure',
    file: 'libs/access/grants.ts',
    content: `import type { Store } from '#event-store'; export type Grant = Store;`,
  },
  {
    rule: 'release-rules-are-pure',
    file: 'libs/provider-release/archive-names.ts',
    content: `import { key } from './signing-key.js'; export const name = key;`,
  },
  {
    rule: 'provider-release-knows-the-kernel',
    file: 'libs/provider-release/served.ts',
    content: `import { document } from '#json-api'; export const served = document;`,
  },
  {
    rule: 'kernel-imports-nothing',
    file: 'libs/kernel/clock.ts',
    content: `import { hrtime } from 'node:process'; export const now = hrtime;`,
  },
  {
    rule: 'kernel-imports-nothing',
    file: 'libs/kernel/up.ts',
    content: `import { document } from '#json-api'; export const up = document;`,
  },
  {
    rule: 'slices-share-types-and-commands',
    file: 'libs/runs/runs.reach.ts',
    content: `import { tagsSlice } from '#tags'; export const reach = tagsSlice;`,
  },
  {
    rule: 'slices-have-one-door',
    file: 'libs/runs/runs.window.ts',
    content: `import type { Tag } from '../tags/tag.js'; export type Run = Tag;`,
  },
  {
    rule: 'base-below-slices',
    file: 'libs/access/upwards.ts',
    content: `import { tagsSlice } from '#tags'; export const up = tagsSlice;`,
  },
  {
    rule: 'libs-below-apps',
    file: 'libs/runs/runs.house.ts',
    content: `import { slices } from '../../apps/slices.js'; export const all = slices;`,
  },
  {
    rule: 'libs-below-apps',
    file: 'libs/runs/runs.house.spec.ts',
    content: `import { slices } from '../../apps/slices.js'; export const all = slices;`,
  },
  {
    rule: 'only-specs-use-test-support',
    file: 'libs/runs/runs.helped.ts',
    content: `import { server } from '../support/server.js'; export const help = server;`,
  },
  {
    rule: 'apps-stand-alone',
    file: 'apps/publisher/src/publisher.ts',
    content: `import { gateway } from '../../gateway/src/gateway.js'; export const publisher = gateway;`,
  },
  {
    rule: 'publisher-stands-light',
    file: 'apps/provider/src/heavy.ts',
    content: `import { store } from '#event-store'; export const heavy = store;`,
  },
  {
    rule: 'pg-at-the-edge',
    file: 'libs/runs/runs.pool.ts',
    content: `import pg from 'pg'; export const pool = pg.Pool;`,
  },
  {
    rule: 's3-at-the-edge',
    file: 'libs/runs/runs.bucket.ts',
    content: `import { S3 } from '@aws-sdk/client-s3'; export const s3 = S3;`,
  },
  {
    rule: 'kafka-at-the-edge',
    file: 'libs/runs/runs.kafka.ts',
    content: `import { Kafka } from 'kafkajs'; export const kafka = Kafka;`,
  },
];

const LAWFUL: Readonly<Record<string, string>> = {
  // Rules know the kernel, their own slice, and the rules of access and of releases …
  'libs/runs/run.ts': `
    import { message } from '#kernel';
    import { actor } from '#access/rules';
    import { version } from '#provider-release/rules';
    import { plan } from './plan.js';
    export const run = [message, actor, version, plan];`,
  'libs/runs/plan.ts': `export const plan = 1;`,
  // … what is wired knows the base, its neighbours' types, and the commands that may be sent to them …
  'libs/runs/runs.handler.ts': `
    import { CommandBus } from '@nestjs/cqrs';
    import { store } from '#event-store';
    import { actor } from '#access';
    import { document } from '#json-api';
    import type { Tag } from '#tags';
    import { ToTag } from '../tags/to-tag.js';
    import { run } from './run.js';
    export const handler: [unknown, Tag?] = [[CommandBus, store, actor, document, ToTag, run]];`,
  'libs/runs/runs.queries.ts': `export const queries = 1;`,
  'libs/runs/to-run.ts': `import { Command } from '@nestjs/cqrs'; export class ToRun extends Command<string> {}`,
  'libs/runs/index.ts': `export { handler } from './runs.handler.js'; export { run } from './run.js';`,
  // … specs use whatever helps …
  'libs/runs/runs.handler.spec.ts': `
    import pg from 'pg';
    import { Kafka } from 'kafkajs';
    import { server } from '../support/server.js';
    import { handler } from './runs.handler.js';
    export const all = [pg, Kafka, server, handler];`,
  // … types may go round in a circle, for they are gone when it runs …
  'libs/json-api/left.ts': `import type { Right } from './right.js'; export type Left = Right | 1;`,
  'libs/json-api/right.ts': `import { type Left } from './left.js'; export type Right = Left[];`,
  'apps/provider/src/publish.ts': `import { message } from '#kernel'; export const publish = message;`,
  // … and the one process that holds all the others knows them all.
  'apps/cadastre/src/serve.ts': `
    import { run } from '#runs';
    import { gateway } from '../../gateway/src/gateway.js';
    import { publish } from '../../provider/src/publish.js';
    export const serve = [run, gateway, publish];`,
  'test/e2e/all.spec.ts': `
    import pg from 'pg';
    import { serve } from '../../apps/cadastre/src/serve.js';
    export const all = [pg, serve];`,
};

type Violation = {
  readonly from: string;
  readonly rule: { readonly name: string };
  readonly cycle?: readonly { readonly name: string }[];
};

type Report = {
  readonly summary: {
    readonly violations: readonly Violation[];
    readonly ruleSetUsed: { readonly forbidden: readonly { readonly name: string }[] };
  };
  readonly modules: readonly { readonly source: string }[];
};

let house: string;
let report: Report;

const put = async (file: string, content: string): Promise<void> => {
  await mkdir(dirname(join(house, file)), { recursive: true });
  await writeFile(join(house, file), content);
};

beforeAll(async () => {
  house = await mkdtemp(join(tmpdir(), 'cadastre-imports-'));
  for (const name of ['.dependency-cruiser.js', 'package.json', 'tsconfig.json']) {
    await copyFile(join(ROOT, name), join(house, name));
  }
  await symlink(join(ROOT, 'node_modules'), join(house, 'node_modules'));
  const planted = VIOLATIONS.map(({ file, content }) => [file, content] as const);
  for (const [file, content] of [...Object.entries({ ...SMALL_HOUSE, ...LAWFUL }), ...planted])
    await put(file, content);
  const depcruise = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [depcruise, '--config', '.dependency-cruiser.js', '--output-type', 'json', 'apps', 'libs', 'test'];
  // The same program and words as `npm run check:imports`. It exits with the number of errors, and prints them first.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: house, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => error as { stdout: string },
  );
  report = JSON.parse(stdout) as Report;
});

afterAll(() => rm(house, { recursive: true, force: true }));

/** A circle is reported for one of those in it. */
const concerns = ({ from, cycle }: Violation, file: string): boolean =>
  from === file || (cycle?.some(({ name }) => name === file) ?? false);

const reportedFor = (file: string): string[] => [
  ...new Set(report.summary.violations.filter((violation) => concerns(violation, file)).map(({ rule }) => rule.name)),
];

describe('the rules of who may import whom', () => {
  it('are all planted against here', () => {
    const rules = report.summary.ruleSetUsed.forbidden.map(({ name }) => name);
    expect(new Set(VIOLATIONS.map(({ rule }) => rule))).toEqual(new Set(rules));
  });

  it.each(VIOLATIONS)('$rule reports $file, and is the only one to do so', ({ rule, file }) => {
    expect(reportedFor(file)).toEqual([rule]);
  });

  it.each(Object.keys({ ...SMALL_HOUSE, ...LAWFUL }))('%s imports lawfully, and is left alone', (file) => {
    expect(report.modules.map(({ source }) => source)).toContain(file);
    expect(reportedFor(file)).toEqual([]);
  });
});
