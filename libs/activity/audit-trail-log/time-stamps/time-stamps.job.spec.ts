import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Logger } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import { expectStatus } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import {
  AUTHORITY_POLICY,
  startTimeStampAuthority,
  type TestTimeStampAuthority,
} from '../../../../test/support/time-stamp-authority.js';
import { createTestSigning, insertTestLeaves, tamper } from '../../../../test/support/trail-signing.js';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import { runVerifierProgram } from '../../../packages/trail-verifier/program.js';
import { verifyTrailLogs } from '../verification/trail-log.verifier.js';
import { createTimeStampJob } from './time-stamps.job.js';

const PATH = '/audit-trail-log/time-stamps';
const HOUR_MS = 3_600_000;

let server: TestServer;
let authority: TestTimeStampAuthority;
const clock = new AdjustableClock();
let size = 0;
let lines: { readonly text: string; readonly context: object }[] = [];

beforeAll(async () => {
  authority = await startTimeStampAuthority();
  server = await startTestServer({ clock });
});
afterAll(async () => {
  await server.close();
  await authority.close();
});

const createJob = () => {
  const record = (context: object, text: string): void => void lines.push({ text, context });
  const logger: Logger = { debug: record, info: record, warn: record };
  const { url, caFile } = authority;
  const job = createTimeStampJob(
    { database: server.database, clock, logger },
    { url, caFile, policy: null, intervalMs: 24 * HOUR_MS },
  );
  return () => runJobOnce(job);
};

/** Adds a leaf to a log, and signs it and then the log of the site. */
const grow = async (): Promise<void> => {
  await insertTestLeaves(server.database, 'org-seen', [size, size + 1]);
  size += 1;
  // A projector that has just started signs the log of the site at once.
  const signNow = createTestSigning(server);
  await signNow();
  await signNow();
};

const list = async () => expectStatus(await server.get(PATH), 200).body;

const readFile = async (path: string) => {
  const response = await fetch(`${server.url}${path}`);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

/** Lets the monitor check the log of the site once. Resolves to its exit code and its last line. */
const watch = async (): Promise<readonly [number, string | undefined]> => {
  const [key = ''] = (await server.get('/audit-trail-log/keys')).text.split('\n');
  const output: string[] = [];
  const state = join(server.runtime.settings.dataFolder, 'monitor');
  const options = ['--key', key, '--state', state, '--time-stamp-ca', authority.caFile, '--once'];
  const code = await runVerifierProgram(['watch', `${server.url}/audit-trail-log`, ...options], {
    print: (line) => void output.push(line),
    printError: (line) => void output.push(line),
    stdin: (async function* () {})(),
    token: null,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
  });
  return [code, output.at(-1)];
};

const letTimePass = () =>
  tamper(server.database, sql`update audit_trail.time_stamps set stored_at = stored_at - interval '25 hours'`);

beforeEach(() => {
  lines = [];
});

describe('time stamps of the log of the site', () => {
  it('are none before there is a checkpoint', async () => {
    expect(await createJob()()).toBe(0);
    expect(authority.requests).toHaveLength(0);
    expect(await list()).toMatchObject({ data: [], meta: { pagination: { 'total-count': 0 } } });
  });

  it('are published with the stamped bytes, and openssl verifies them', async () => {
    await grow();
    expect(await createJob()()).toBe(1);
    const { data } = await list();
    const { text } = expectStatus(await server.get('/audit-trail-log/checkpoint'), 200);
    expect(data).toMatchObject([
      {
        id: hash('sha256', text),
        type: 'audit-trail-log-time-stamps',
        attributes: { origin: text.split('\n')[0], size: 1, authority: 'stamps', policy: AUTHORITY_POLICY },
      },
    ]);
    const [{ id, attributes, links }] = data;
    expect(Math.abs(Date.parse(attributes['stamped-at']) - Date.now())).toBeLessThan(600_000);
    const checkpoint = await readFile(links.checkpoint);
    const stamp = await readFile(links['time-stamp']);
    expect(checkpoint.bytes.toString()).toBe(text);
    expect(stamp.response.headers.get('content-type')).toBe('application/timestamp-reply');
    expect(stamp.response.headers.get('cache-control')).toBe('public, max-age=604800, immutable');
    expect(await authority.verify(checkpoint.bytes, stamp.bytes)).toBe('Verification: OK');
    for (const path of [`${PATH}/${id.slice(1)}/checkpoint`, `${PATH}/${id}x/checkpoint.tsr`, `${PATH}/${id}`]) {
      expectStatus(await server.get(path), 404);
    }
  });

  it('keep the bytes that were stamped if witnesses cosign the checkpoint later', async () => {
    const [{ links }] = (await list()).data;
    await tamper(
      server.database,
      sql`update audit_trail.signed_checkpoints set note = note || 'later' where organization = 'site'`,
    );
    const [checkpoint, stamp] = await Promise.all([readFile(links.checkpoint), readFile(links['time-stamp'])]);
    expect(await authority.verify(checkpoint.bytes, stamp.bytes)).toBe('Verification: OK');
    await tamper(
      server.database,
      sql`update audit_trail.signed_checkpoints set note = replace(note, 'later', '') where organization = 'site'`,
    );
  });

  it('are compared with the log by `cadastre verify`', async () => {
    const find = async () =>
      (await verifyTrailLogs(server.database)).find(({ organization }) => organization === 'site')?.difference ?? null;
    expect(await find()).toBeNull();
    const [stored] = await server.database.rows<{ readonly note: string; readonly response: Buffer }>(
      sql`select note, response from audit_trail.time_stamps`,
    );
    for (const change of ["note = 'x' || note", 'response = substr(response, 1, 60)', 'size = 5']) {
      await tamper(server.database, sql.raw(`update audit_trail.time_stamps set ${change}`));
      expect([change, await find()]).toEqual([
        change,
        expect.stringMatching(/^the time stamp of the size \d is not for/),
      ]);
      const { note, response } = stored ?? { note: '', response: Buffer.alloc(0) };
      await tamper(
        server.database,
        sql`update audit_trail.time_stamps set note = ${note}, response = ${response}, size = 1`,
      );
    }
    expect(await find()).toBeNull();
  });

  it('follow after the interval, if the log has grown', async () => {
    const { length } = authority.requests;
    await grow();
    expect(await createJob()()).toBe(0);
    await letTimePass();
    expect(await createJob()()).toBe(1);
    await letTimePass();
    expect(await createJob()()).toBe(0);
    expect(authority.requests).toHaveLength(length + 1);
    const { data } = await list();
    expect(data.map(({ attributes }: { attributes: { size: number } }) => attributes.size)).toEqual([2, 1]);
    expect(expectStatus(await server.get(`${PATH}?page[size]=1&page[number]=2`), 200).body.data).toEqual([data[1]]);
  });

  it('are of checkpoints that the log of the site extends, which the verifier shows', async () => {
    const oldest = (await list()).data.at(-1);
    const file = join(server.runtime.settings.dataFolder, 'stamped');
    await writeFile(file, (await readFile(oldest.links.checkpoint)).bytes);
    const [key = ''] = (await server.get('/audit-trail-log/keys')).text.split('\n');
    const output: string[] = [];
    const site = `${server.url}/audit-trail-log`;
    const verify = (...options: readonly string[]) =>
      runVerifierProgram(['verify', site, '--key', key, ...options], {
        print: (line) => void output.push(line),
        printError: (line) => void output.push(line),
        stdin: (async function* () {})(),
        token: null,
        signal: new AbortController().signal,
        sleep: () => Promise.resolve(),
      });
    const code = await verify('--since', file);
    expect([code, output.join('\n')]).toEqual([0, expect.stringMatching(/^VERIFIED\n.*the checkpoint of 1 entr/s)]);
    // The server still has the tiles of the stamped size. The log of the site has no checkpoints of itself.
    output.length = 0;
    expect(await verify('--site', site, '--site-checkpoint', file)).toBe(3);
    expect(output).toEqual([expect.stringMatching(/: the log of the site has no checkpoint of .*\/audit-trail-log$/)]);
  });

  it('are verified by the monitor', async () => {
    const [{ attributes }] = (await list()).data;
    const stamped = `stamps has stamped ${attributes.size} entries at ${attributes['stamped-at']}`;
    expect(await watch()).toEqual([0, expect.stringContaining(stamped)]);
  });

  it('are requested again after a restore without the newest ones, which the monitor names', async () => {
    const [newest] = (await list()).data;
    await tamper(server.database, sql`delete from audit_trail.time_stamps where size = 2`);
    const names = (reason: string) => [
      1,
      expect.stringMatching(new RegExp(`^NOT VERIFIED \\(time-stamp\\).*${reason}`)),
    ];
    expect(await watch()).toEqual(names('covers 1 entries, and an earlier one covered 2'));
    // The interval of the stamp in the backup is over.
    expect(await createJob()()).toBe(1);
    const [again, ...others] = (await list()).data;
    expect([again.id, others.length]).toEqual([newest.id, 1]);
    const [checkpoint, stamp] = await Promise.all([
      readFile(again.links.checkpoint),
      readFile(again.links['time-stamp']),
    ]);
    expect(await authority.verify(checkpoint.bytes, stamp.bytes)).toBe('Verification: OK');
    const logs = await verifyTrailLogs(server.database);
    expect(logs.find(({ organization }) => organization === 'site')?.difference ?? null).toBeNull();
    expect(await watch()).toEqual([0, expect.stringContaining('unchanged: 2 entries')]);
    await letTimePass();
  });

  it('are not stored if the answer is wrong, and are requested again after growing pauses', async () => {
    await grow();
    const honest = authority.answer;
    authority.answer = () => ({ status: 503, body: Buffer.alloc(0) });
    const failures = async () => (await checkpointMetrics.timeStampFailures.get()).values[0]?.value ?? 0;
    const before = await failures();
    const { length } = authority.requests;
    const run = createJob();
    // Attempts after 0, 1, 3 and 7 minutes.
    for (let minute = 0; minute < 8; minute += 1) {
      expect(await run()).toBe(0);
      clock.pass({ minutes: 1, ms: 1 });
    }
    expect(authority.requests).toHaveLength(length + 4);
    expect((await failures()) - before).toBe(4);
    expect((await list()).data).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      text: 'time stamp of the log of the site failed, will retry',
      context: { authority: new URL(authority.url).host, err: { message: 'the authority answered with 503' } },
    });
    const overdue = async () => (await checkpointMetrics.timeStampOverdue.get()).values[0]?.value;
    expect(await overdue()).toBeGreaterThan(400);
    checkpointMetrics.timeStampOverdue.set(0);
    // A projector that has just started measures the same time.
    await createJob()();
    expect(await overdue()).toBeGreaterThan(400);
    // Nothing waits for the authority.
    await grow();
    expect((await server.get('/audit-trail-log/checkpoint')).text.split('\n')[1]).toBe('4');
    authority.answer = honest;
    clock.pass({ minutes: 10 });
    expect(await run()).toBe(1);
    expect(await overdue()).toBe(0);
    expect(lines.at(-1)?.text).toBe('time stamp of the log of the site recovered');
    clock.offsetMs = 0;
  });

  it('are also requested after growing pauses if they cannot be stored', async () => {
    // After the checkpoints of the test before.
    clock.pass({ minutes: 30 });
    await grow();
    await letTimePass();
    await server.database.rows(
      sql`alter table audit_trail.time_stamps add constraint refuse check (size < 0) not valid`,
    );
    const { length } = authority.requests;
    const run = createJob();
    const results: string[] = [];
    // Attempts after 0, 1 and 3 minutes.
    for (let minute = 0; minute < 5; minute += 1) {
      results.push(
        await run().then(
          () => 'waits',
          (error: Error) => error.message,
        ),
      );
      clock.pass({ minutes: 1, ms: 1 });
    }
    const failure = expect.stringContaining('"refuse"');
    expect(results).toEqual([failure, failure, 'waits', failure, 'waits']);
    expect(authority.requests).toHaveLength(length + 3);
    await server.database.rows(sql`alter table audit_trail.time_stamps drop constraint refuse`);
    clock.pass({ minutes: 10 });
    expect(await run()).toBe(1);
    clock.offsetMs = 0;
  });

  it('are of the new origin at once if the log forks', async () => {
    await tamper(
      server.database,
      sql`with keys as (update audit_trail.log_keys set origin = origin || '/2' where organization = 'site')
          update audit_trail.signed_checkpoints set origin = origin || '/2', note = replace(note, origin, origin || '/2')
           where organization = 'site'`,
    );
    expect(await createJob()()).toBe(1);
    const { data } = await list();
    const attributes = expect.objectContaining({ size: 5, origin: expect.stringMatching(/\/audit-trail-log\/2$/) });
    expect(data).toContainEqual(expect.objectContaining({ attributes }));
  });
});
