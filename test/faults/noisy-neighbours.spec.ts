import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, type Product } from '../support/product.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import type { AttackReport, AttackTarget } from './attacker.js';
import { p99, WellBehavedClient, type LatencyReport } from './well-behaved-client.js';

// The promise: while a hostile caller attacks, another caller sees no error, and 99 % of its requests take
// at most ten times as long as without the attack. The ratio is taken within one run, so it holds on slow machines too.

const LONG = scaleLimit(600_000);
/**
 * The requests of the other caller during an attack: twelve of each kind. An attack ends after them: attacks of 3 s kept two
 * processors busy for 50 s, and the other caller sent 20 requests on a busy machine, and 100 on a quiet one.
 */
const REQUESTS = countRounds(60);
const WORST_RATIO = 10;
/** Other tests share the processors. A ratio above the limit counts if it is found again with a new baseline. */
const MEASURES = 3;
/** Lower bound of the baseline: on two shared cores one garbage collection or one other test takes as long. */
const LEAST_BASELINE_MS = 50;
/** Limit for the peak of the server's resident memory over all attacks. At rest it has about 150 MB. */
const MEMORY_LIMIT_MB = 700;

/** Settings that other tests switch off. */
const LIMITS = [
  'CADASTRE_RATE_LIMIT',
  'CADASTRE_ADDRESS_RATE_LIMIT',
  'CADASTRE_WRONG_TOKEN_LIMIT',
  'CADASTRE_ACCESS_CHANGE_LIMIT',
  'CADASTRE_FACTS_LIMIT',
  'CADASTRE_MAX_UNANSWERED_REQUESTS',
];

const ATTACKS = [
  'a 200 MB body by an outsider',
  'a 30 MB body by an owner',
  '9 MB states by an owner',
  '2 MB bodies without a token',
  'hundreds of tag filters',
  'searches without an index',
  'outputs of a 10 MB state',
  'variables with long values',
  'slow requests on 300 connections',
  'unfinished bodies on 300 connections',
  'pipelined requests on 200 connections',
  'wrong tokens',
  'one token without a pause',
  'renames',
  'facts by the thousand',
] as const;

let product: Product;
let victim: WellBehavedClient;
let target: AttackTarget;
let baseline: LatencyReport;

const tokenOf = async (user: string): Promise<string> => {
  const { stdout, code } = await product.run('token', 'create', '--user', user);
  expect(code).toBe(0);
  return stdout.trim();
};

const VARIABLES = 200;
const LONG_VALUE = 'x'.repeat(100_000);

/** Creates the resources of the attacker: a locked workspace with many long variables and a state of 10 MB. */
const prepare = async (api: ApiTestClient): Promise<Pick<AttackTarget, 'workspace' | 'stateVersion'>> => {
  await makeOrganization(api, 'attacker');
  const workspace = await makeWorkspace(api, 'attacker', 'base');
  for (let n = 0; n < VARIABLES; n += 1) {
    const attributes = { key: `variable_${n}`, value: LONG_VALUE, category: 'terraform' };
    const answer = await api.post(`/api/v2/workspaces/${workspace}/vars`, resource('vars', attributes));
    // The limit of variables in a workspace is reached.
    if (answer.status === 422) break;
    expectStatus(answer, 201);
  }
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const outputs = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`output_${n}`, { type: 'string', value: 'y'.repeat(10_000) }]),
  );
  const file = stateFile({ outputs });
  const announced = await api.post(
    `/api/v2/workspaces/${workspace}/state-versions`,
    newStateVersion(file, { inline: false }),
  );
  const { id, attributes } = expectStatus(announced, 201).body.data;
  const upload = await fetch(`${product.url}${pathOf(attributes['hosted-state-upload-url'])}`, {
    method: 'PUT',
    body: file.bytes,
  });
  expect(upload.status).toBe(200);
  return { workspace, stateVersion: id };
};

type RunningAttack = { end(): Promise<AttackReport> };

/** Starts an attacker. Resolves when it begins to send. */
const launch = async (attack: string): Promise<RunningAttack> => {
  const env = { ...process.env, ATTACK: attack, ATTACK_TARGET: JSON.stringify(target) };
  const child = spawn(process.execPath, [join(import.meta.dirname, 'attacker.js')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<unknown>((resolve, reject) => child.once('error', reject).once('close', resolve));
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child.stdout, 'data'), closed]);
  return {
    end: async () => {
      child.kill('SIGTERM');
      expect(await closed).toBe(0);
      return JSON.parse(output.slice(output.indexOf('\n'))) as AttackReport;
    },
  };
};

/** Returns the peak of the server's resident memory since its start, in MB. */
const peakMemory = async (): Promise<number> => {
  const pid = (await readFile(join(product.dataFolder, 'pid'), 'utf8')).trim();
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
};

/** Attacks while the other caller works. Returns its 99th percentile in relation to the one of the baseline. */
const measureRatio = async (attack: string, before: LatencyReport): Promise<number> => {
  const attacker = await launch(attack);
  const experience = await victim.work(REQUESTS);
  const { statuses } = await attacker.end();
  const ratio = p99(experience) / Math.max(p99(before), LEAST_BASELINE_MS);
  process.stdout.write(
    `${attack}: victim ${experience.latencies.length} requests, p99 ${p99(experience).toFixed(1)} ms ` +
      `(${ratio.toFixed(1)} × baseline); attacker ${JSON.stringify(statuses)}; ` +
      `server's peak memory ${(await peakMemory()).toFixed(0)} MB\n`,
  );
  expect(experience.errors).toEqual([]);
  // No attacker gets a server error.
  expect(Object.keys(statuses).filter((status) => /^5(?!03)/.test(status))).toEqual([]);
  return ratio;
};

beforeAll(async () => {
  // The product has its default limits: an empty setting counts as absent.
  product = await launchProduct(Object.fromEntries(LIMITS.map((name) => [name, ''])));
  await product.start();
  const owner = await tokenOf('attacker');
  const outsider = await tokenOf('outsider');
  const { hostname, port } = new URL(product.url);
  const prepared = await prepare(createApiTestClient(product.url, owner));
  target = { host: hostname, port: Number(port), outsider, owner, ...prepared };
  victim = await WellBehavedClient.settle(createApiTestClient(product.url, await tokenOf('victim')), 'victim');
  // The first requests compile statements and code, so the baseline begins after them.
  await victim.work(REQUESTS);
  baseline = await victim.work(REQUESTS);
}, LONG);

afterAll(() => product?.remove());

describe('a caller beside an attacker', () => {
  it('has a baseline without errors', () => {
    expect(baseline.errors).toEqual([]);
    process.stdout.write(`baseline: ${baseline.latencies.length} requests, p99 ${p99(baseline).toFixed(1)} ms\n`);
  });

  it.each(ATTACKS)(
    'gets no error and at most ten times the latency during %s',
    async (attack) => {
      let ratio = await measureRatio(attack, baseline);
      for (let measures = 1; ratio > WORST_RATIO && measures < MEASURES; measures += 1) {
        ratio = await measureRatio(attack, await victim.work(REQUESTS));
      }
      expect(ratio).toBeLessThanOrEqual(WORST_RATIO);
    },
    LONG,
  );

  it('finds the memory of the server bounded', async () => {
    expect(await peakMemory()).toBeLessThan(MEMORY_LIMIT_MB);
  });
});
