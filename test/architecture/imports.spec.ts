import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { canReach, MODULE_FOLDERS, readGroups, readModuleGraph } from '../support/modules.js';

/** A small project under the real rules: the files that the planted files import. */
const SMALL_PROJECT: Readonly<Record<string, string>> = {
  'libs/platform/kernel/index.ts': `export * from './message.js';`,
  'libs/platform/kernel/message.ts': `export type Message = string; export const message = 'm';`,
  'libs/platform/postgres/index.ts': `export { store } from './store.js'; export type { Store } from './store.js';`,
  'libs/platform/postgres/store.ts': `import pg from 'pg'; export const store = pg; export type Store = typeof store;`,
  'libs/storage/message-log/index.ts': `export { log } from './log.js';`,
  'libs/storage/message-log/log.ts': `import { Kafka } from 'kafkajs'; export const log = Kafka;`,
  'libs/api/json-api/index.ts': `export * from './rules.js'; export const document = 1;`,
  'libs/api/json-api/rules.ts': `export * from './attribute-table.js';`,
  'libs/api/json-api/description/index.ts': `export const describe = 1;`,
  'libs/api/json-api/attribute-table.ts': `
    import { z } from 'zod';
    import { message } from '#platform/kernel';
    export const attribute = [z, message];`,
  'libs/api/access/index.ts': `export * from './rules.js'; export const guard = 1;`,
  'libs/api/access/rules.ts': `export * from './callers/actor.js';`,
  'libs/api/access/callers/actor.ts': `import { message } from '#platform/kernel'; export const actor = message;`,
  'libs/platform/host/index.ts': `export const settings = 1;`,
  'libs/platform/tracing/sdk.ts': `export const sdk = 1;`,
  'libs/registry/provider-release/index.ts': `export * from './rules.js'; export { key } from './signing-key.js';`,
  'libs/registry/provider-release/rules.ts': `
    import { parse } from 'semver';
    import { message } from '#platform/kernel';
    export const version = [parse, message];`,
  'libs/registry/provider-release/signing-key.ts': `import { readKey } from 'openpgp'; export const key = readKey;`,
  'libs/workspaces/workspaces/index.ts': `
    export { LockWorkspace } from './workspaces.commands.js';
    export type { Workspace } from './workspace.js';`,
  'libs/workspaces/workspaces/workspace.ts': `export type Workspace = string; export const workspace = 'w';`,
  'libs/workspaces/workspaces/workspaces.commands.ts': `export class LockWorkspace {}`,
  'libs/workspaces/state/index.ts': `export const stateSlice = 1; export type State = string;`,
  'libs/activity/history/index.ts': `export const historySlice = 1; export type History = string;`,
  'apps/modules.ts': `import { stateSlice } from '#workspaces/state'; export const slices = [stateSlice];`,
  'apps/gateway/src/gateway.ts': `import { slices } from '../../modules.js'; export const gateway = slices;`,
  'test/support/server.ts': `import { slices } from '../../apps/modules.js'; export const server = slices;`,
};

type Planted = { readonly rule: string; readonly file: string; readonly content: string };

const VIOLATIONS: readonly Planted[] = [
  {
    rule: 'no-cycles',
    file: 'libs/api/json-api/hen.ts',
    content: `import { egg } from './egg.js'; export const hen = egg;`,
  },
  {
    rule: 'no-cycles',
    file: 'libs/api/json-api/egg.ts',
    content: `import { hen } from './hen.js'; export const egg = hen;`,
  },
  {
    rule: 'no-cycles',
    file: 'libs/api/json-api/left.ts',
    content: `import type { Right } from './right.js'; export type Left = Right | 1;`,
  },
  {
    rule: 'no-cycles',
    file: 'libs/api/json-api/right.ts',
    content: `import { type Left } from './left.js'; export type Right = Left[];`,
  },
  { rule: 'no-unresolved', file: 'libs/platform/host/lost.ts', content: `export * from './nowhere.js';` },
  { rule: 'no-unresolved', file: 'apps/gateway/src/lost.ts', content: `export * from '#nowhere';` },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/runs/nest.ts',
    content: `import { Injectable } from '@nestjs/common'; export const run = Injectable;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/runs/node.ts',
    content: `import { randomUUID } from 'node:crypto'; export const id = randomUUID();`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/runs/store.ts',
    content: `import type { Store } from '#platform/postgres'; export type Run = Store;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/runs/wired.ts',
    content: `import { queries } from './runs.queries.js'; export const run = queries;`,
  },
  {
    rule: 'one-dot-is-pure',
    file: 'libs/runs/runs/asked.ts',
    content: `import { actor } from '#api/access'; export const run = actor;`,
  },
  {
    rule: 'access-rules-are-pure',
    file: 'libs/api/access/permissions/permissions.ts',
    content: `import { guard } from '../index.js'; export const permissions = guard;`,
  },
  {
    rule: 'access-rules-are-pure',
    file: 'libs/api/access/permissions/grants.ts',
    content: `import type { Store } from '#platform/postgres'; export type Grant = Store;`,
  },
  {
    rule: 'json-api-rules-are-pure',
    file: 'libs/api/json-api/member-treatments.ts',
    content: `import type { Store } from '#platform/postgres'; export type Treatment = Store;`,
  },
  {
    rule: 'descriptions-are-not-loaded',
    file: 'libs/runs/runs/runs.controller.ts',
    content: `import { describe } from '#api/json-api/description'; export const described = describe;`,
  },
  {
    rule: 'descriptions-are-not-loaded',
    file: 'libs/runs/runs/runs.included.ts',
    content: `import { operations } from './runs.openapi.js'; export const included = operations;`,
  },
  {
    rule: 'release-rules-are-pure',
    file: 'libs/registry/provider-release/archive-names.ts',
    content: `import { key } from './signing-key.js'; export const name = key;`,
  },
  {
    rule: 'kernel-imports-nothing',
    file: 'libs/platform/kernel/clock.ts',
    content: `import { hrtime } from 'node:process'; export const now = hrtime;`,
  },
  {
    rule: 'groups-import-downwards',
    file: 'libs/api/access/upwards.ts',
    content: `import { LockWorkspace } from '#workspaces/workspaces'; export const up = LockWorkspace;`,
  },
  {
    rule: 'groups-import-downwards',
    file: 'libs/workspaces/workspaces/workspaces.types-upwards.ts',
    content: `import type { History } from '#activity/history'; export type Up = History;`,
  },
  {
    rule: 'public-api-only',
    file: 'libs/runs/runs/runs.window.ts',
    content: `import type { Workspace } from '../../workspaces/workspaces/workspace.js'; export type Run = Workspace;`,
  },
  {
    rule: 'libs-below-apps',
    file: 'libs/runs/runs/runs.apps.ts',
    content: `import { slices } from '../../../apps/modules.js'; export const all = slices;`,
  },
  {
    rule: 'libs-below-apps',
    file: 'libs/runs/runs/runs.apps.spec.ts',
    content: `import { slices } from '../../../apps/modules.js'; export const all = slices;`,
  },
  {
    rule: 'only-specs-use-test-support',
    file: 'libs/runs/runs/runs.helped.ts',
    content: `import { server } from '../../../test/support/server.js'; export const help = server;`,
  },
  {
    rule: 'apps-stand-alone',
    file: 'apps/publisher/src/publisher.ts',
    content: `import { gateway } from '../../gateway/src/gateway.js'; export const publisher = gateway;`,
  },
  {
    rule: 'publisher-stands-light',
    file: 'apps/provider/src/heavy.ts',
    content: `import { store } from '#platform/postgres'; export const heavy = store;`,
  },
  {
    rule: 'executor-stands-light',
    file: 'apps/executor/src/heavy.ts',
    content: `import { store } from '#platform/postgres'; export const heavy = store;`,
  },
  {
    rule: 'credentials-helper-stands-alone',
    file: 'apps/credentials-helper/src/heavy.ts',
    content: `import { z } from 'zod'; export const schema = z;`,
  },
  {
    rule: 'consumer-stands-alone',
    file: 'libs/packages/consumer/heavy.ts',
    content: `import { z } from 'zod'; export const heavy = z;`,
  },
  {
    rule: 'verifier-stands-alone',
    file: 'libs/packages/trail-verifier/heavy.ts',
    content: `import { z } from 'zod'; export const heavy = z;`,
  },
  {
    rule: 'pg-at-the-edge',
    file: 'libs/runs/runs/runs.pool.ts',
    content: `import pg from 'pg'; export const pool = pg.Pool;`,
  },
  {
    rule: 's3-at-the-edge',
    file: 'libs/runs/runs/runs.bucket.ts',
    content: `import { S3 } from '@aws-sdk/client-s3'; export const s3 = S3;`,
  },
  {
    rule: 'tracing-at-the-edge',
    file: 'libs/runs/runs/runs.traces.ts',
    content: `import { trace } from '@opentelemetry/api'; export const all = trace;`,
  },
  {
    rule: 'tracing-sdk-is-loaded-late',
    file: 'libs/platform/tracing/start-early.ts',
    content: `import { TracerProvider } from '@opentelemetry/sdk-trace'; export const provider = TracerProvider;`,
  },
  {
    rule: 'tracing-sdk-file-is-loaded-late',
    file: 'libs/platform/tracing/import-early.ts',
    content: `import { sdk } from './sdk.js'; export const early = sdk;`,
  },
  {
    rule: 'console-stands-alone',
    file: 'apps/console/src/screens/runs.screen.tsx',
    content: `import { run } from '#runs/runs'; export const RunsScreen = () => <p>{run}</p>;`,
  },
  {
    rule: 'kafka-at-the-edge',
    file: 'libs/runs/runs/runs.kafka.ts',
    content: `import { Kafka } from 'kafkajs'; export const kafka = Kafka;`,
  },
];

const LAWFUL: Readonly<Record<string, string>> = {
  // Pure files import the kernel, pure files of their module, zod, and the rules of access, json-api and releases.
  'libs/runs/runs/run.ts': `
    import { message } from '#platform/kernel';
    import { z } from 'zod';
    import { actor } from '#api/access/rules';
    import { attribute } from '#api/json-api/rules';
    import { plan } from './plan.js';
    export const run = [message, z, actor, attribute, plan];`,
  'libs/registry/registry/provider.ts': `
    import { version } from '#registry/provider-release/rules';
    export const provider = version;`,
  'libs/runs/runs/plan.ts': `export const plan = 1;`,
  // Wired files import the public API of lower modules.
  'libs/runs/runs/runs.handler.ts': `
    import { CommandBus } from '@nestjs/cqrs';
    import { store } from '#platform/postgres';
    import { actor } from '#api/access';
    import { document } from '#api/json-api';
    import { LockWorkspace, type Workspace } from '#workspaces/workspaces';
    import { run } from './run.js';
    export const handler: [unknown, Workspace?] = [[CommandBus, store, actor, document, LockWorkspace, run]];`,
  'libs/runs/runs/runs.queries.ts': `export const queries = 1;`,
  // Files that no process loads describe the API.
  'libs/runs/runs/runs.openapi.ts': `import { describe } from '#api/json-api/description'; export const operations = describe;`,
  'libs/runs/runs/index.ts': `export { handler } from './runs.handler.js'; export { run } from './run.js';`,
  // Specs import anything.
  'libs/runs/runs/runs.handler.spec.ts': `
    import pg from 'pg';
    import { Kafka } from 'kafkajs';
    import { server } from '../../../test/support/server.js';
    import { handler } from './runs.handler.js';
    export const all = [pg, Kafka, server, handler];`,
  // The console imports the client of the API and the verifier in browsers, which need nothing of the server.
  'libs/packages/client/index.ts': `export const client = 1;`,
  'libs/packages/trail-verifier/web/index.ts': `export const verify = 1;`,
  'apps/console/src/main.tsx': `
    import { client } from '#packages/client';
    import { verify } from '#packages/trail-verifier/web';
    export const Main = () => <p>{client}{verify}</p>;`,
  'apps/provider/src/publish.ts': `import { message } from '#platform/kernel'; export const publish = message;`,
  'libs/packages/consumer/store.ts': `
    import { Kafka } from 'kafkajs';
    import pg from 'pg';
    import { setTimeout } from 'node:timers/promises';
    export const consumer = [Kafka, pg, setTimeout];`,
  'apps/credentials-helper/src/store.ts': `import { join } from 'node:path'; export const file = join('a', 'b');`,
  // The one process that contains all others imports them all.
  'apps/cadastre/src/serve.ts': `
    import { run } from '#runs/runs';
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

let folder: string;
let report: Report;

const put = async (file: string, content: string): Promise<void> => {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), content);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-imports-'));
  for (const name of ['.dependency-cruiser.js', 'package.json', 'tsconfig.json']) {
    await copyFile(join(ROOT, name), join(folder, name));
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const planted = VIOLATIONS.map(({ file, content }) => [file, content] as const);
  for (const [file, content] of [...Object.entries({ ...SMALL_PROJECT, ...LAWFUL }), ...planted])
    await put(file, content);
  const depcruise = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [depcruise, '--config', '.dependency-cruiser.js', '--output-type', 'json', 'apps', 'libs', 'test'];
  // The same program and arguments as `npm run check:imports`. It exits with the number of errors, and prints them
  // first.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch(
    (error: unknown) => error as { stdout: string },
  );
  report = JSON.parse(stdout) as Report;
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** dependency-cruiser reports a cycle for only one of its files. */
const concerns = ({ from, cycle }: Violation, file: string): boolean =>
  from === file || (cycle?.some(({ name }) => name === file) ?? false);

const reportedFor = (file: string): string[] => [
  ...new Set(report.summary.violations.filter((violation) => concerns(violation, file)).map(({ rule }) => rule.name)),
];

describe('the import rules', () => {
  it('name each group', async () => {
    expect((await readGroups()).toSorted()).toEqual((await readdir(join(ROOT, 'libs'))).toSorted());
  });

  it('leave no cycle between modules', () => {
    const graph = readModuleGraph();
    expect([...graph.keys()].filter((module) => canReach(graph, module, module))).toEqual([]);
    const planted = new Map([
      ['hen', new Set(['egg'])],
      ['egg', new Set(['hen'])],
      ['nest', new Set(['hen'])],
    ]);
    expect([...planted.keys()].filter((module) => canReach(planted, module, module))).toEqual(['hen', 'egg']);
  });

  it('give each module a name of its own', () => {
    expect(MODULE_FOLDERS.size).toBe(globSync('libs/*/*/', { cwd: ROOT }).length);
  });

  it('have a planted violation each', () => {
    const rules = report.summary.ruleSetUsed.forbidden.map(({ name }) => name);
    expect(new Set(VIOLATIONS.map(({ rule }) => rule))).toEqual(new Set(rules));
  });

  it.each(VIOLATIONS)('report $file by $rule only', ({ rule, file }) => {
    expect(reportedFor(file)).toEqual([rule]);
  });

  it.each(Object.keys({ ...SMALL_PROJECT, ...LAWFUL }))('accept the imports of %s', (file) => {
    expect(report.modules.map(({ source }) => source)).toContain(file);
    expect(reportedFor(file)).toEqual([]);
  });
});
