import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { register } from 'prom-client';
import { sql } from '#platform/kernel';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentPool,
  makeAgentToken,
  makeMember,
  makeRun,
  makeTeam,
  related,
} from '../../../../test/support/seeds.js';
import { runRequests, startRunSite } from '../../../../test/support/runs.js';
import { waitUntil } from '../../../../test/support/product.js';
import { type ApiResponse, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { createEndedLogsJob, createRunLogs } from '../index.js';
import { RunChanges } from '../runs/run-changes.service.js';

let server: TestServer;
let agents: ApiTestClient;

beforeAll(async () => {
  ({ server, agents } = await startRunSite({ CADASTRE_RUN_LOG_MAX_MIB: '1' }));
});

afterAll(() => server.close());

const { aWorkspace, act, report, reported } = runRequests(() => ({ server, agents }));

const planOf = (run: string): string => run.replace('run-', 'plan-');
const applyOf = (run: string): string => run.replace('run-', 'apply-');

const aRun = async (...statuses: readonly string[]): Promise<string> => {
  const run = await makeRun(server, await aWorkspace());
  await reported(run, ...statuses);
  return run;
};

const append = (run: string, offset: number | string, output: string | Buffer, api = agents): Promise<ApiResponse> =>
  api.put(`/api/v2/plans/${planOf(run)}/log?offset=${offset}`, output);

const logUrl = async (path: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/${path}`), 200).body.data.attributes['log-read-url'] as string;

/** Reads what a log has: the query of the URL is replaced, and there is no token. */
const readPart = async (url: string, offset: number, limit = 65_536, query = '&wait-seconds=0'): Promise<string> => {
  const { pathname } = new URL(url);
  const response = await server.as(null).get(`${pathname}?limit=${limit}&offset=${offset}${query}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain');
  return response.text;
};

const readAll = async (url: string): Promise<string> => {
  let text = '';
  for (;;) {
    const part = await readPart(url, Buffer.byteLength(text));
    if (part === '') return text;
    text += part;
  }
};

const moveLogs = async (): Promise<void> => {
  const logs = createRunLogs(server.store, { ...server.runtime, logLimit: 1 });
  await createEndedLogsJob(logs).run({ signal: new AbortController().signal, done: () => undefined });
};

const countChunks = async (run: string): Promise<number> =>
  (await server.database.rows<{ id: string }>(sql`select id from runs.log_chunks where run = ${run}`)).length;

describe('the log of a phase', () => {
  it('has an address from the creation of the run, and is empty until the phase starts', async () => {
    const run = await makeRun(server, await aWorkspace());
    for (const path of [`plans/${planOf(run)}`, `applies/${applyOf(run)}`, `runs/${run}/plan`, `runs/${run}/apply`]) {
      expect(await readPart(await logUrl(path), 0)).toBe('');
    }
    const { included } = expectStatus(await server.get(`/api/v2/runs/${run}?include=plan,apply`), 200).body;
    for (const { attributes } of included) expect(await readPart(attributes['log-read-url'], 0)).toBe('');
  });

  it('shows output in the order of its offsets, and ends with the phase', async () => {
    const run = await aRun('planning');
    const url = await logUrl(`plans/${planOf(run)}`);
    expect(await readPart(url, 0)).toBe('\u0002');
    expect(expectStatus(await append(run, 0, 'one\n'), 200).body).toEqual({ offset: 4, truncated: false });
    expect(await readPart(url, 1)).toBe('one\n');
    expect(await readPart(url, 5)).toBe('');
    expect(await readPart(url, 500)).toBe('');
    expectStatus(await append(run, 4, 'two\n'), 200);
    expect(await readPart(url, 5)).toBe('two\n');
    expect(await readPart(url, 3, 4)).toBe('e\ntw');
    expectStatus(await report(run, 'planned', { 'has-changes': true }), 200);
    expect(await readAll(url)).toBe('\u0002one\ntwo\n\u0003');
    const apply = await logUrl(`applies/${applyOf(run)}`);
    expect(await readPart(apply, 0)).toBe('');
    expectStatus(await act(run, 'discard'), 202);
    expect(await readAll(apply)).toBe('\u0002\u0003');
  });

  it.each(['errored', 'canceled'])('ends if the run is %s before its executor has sent everything', async (end) => {
    const run = await aRun('planning');
    expectStatus(await append(run, 0, 'half a li'), 200);
    if (end === 'canceled') await act(run, 'cancel');
    expectStatus(await report(run, end), 200);
    expect(await readAll(await logUrl(`plans/${planOf(run)}`))).toBe('\u0002half a li\u0003');
  });

  it('is the same after it was moved to a file, and accepts its end again', async () => {
    const run = await aRun('planning');
    const url = await logUrl(`plans/${planOf(run)}`);
    const output = Array.from(
      { length: 9_000 },
      (_, number) => `line ${number} ${randomBytes(8).toString('hex')}\n`,
    ).join('');
    expectStatus(await append(run, 0, output), 200);
    await moveLogs();
    expect(await countChunks(run)).toBe(Math.ceil(output.length / 65_536));
    expectStatus(await report(run, 'errored'), 200);
    const before = await readAll(url);
    expect(before).toBe(`\u0002${output}\u0003`);
    const tail = output.slice(-100_000);
    expectStatus(await append(run, output.length - tail.length, tail), 200);
    await moveLogs();
    expect(await countChunks(run)).toBe(0);
    expect(await readAll(url)).toBe(before);
    expect(await readPart(url, 70_000, 10)).toBe(before.slice(70_000, 70_010));
    expectStatus(await append(run, output.length - tail.length, tail), 200);
    expectStatus(await append(run, output.length, 'more'), 409);
    expectStatus(await append(run, 0, 'LINE'), 409);
  });

  it('is encrypted in the database and in the file', async () => {
    const run = await aRun('planning');
    const url = await logUrl(`plans/${planOf(run)}`);
    const secret = randomBytes(40).toString('hex');
    expectStatus(await append(run, 0, secret), 200);
    const [row] = await server.database.rows<{ content: Buffer }>(
      sql`select content from runs.log_chunks where run = ${run}`,
    );
    expect(row?.content.includes(secret)).toBe(false);
    expectStatus(await report(run, 'errored'), 200);
    await moveLogs();
    const file = await server.runtime.blobs.get(`runs/${run}/plan-log`);
    const pieces = ((await file?.content.toArray()) ?? []) as Buffer[];
    expect(pieces.length).toBeGreaterThan(0);
    expect(Buffer.concat(pieces).includes(secret)).toBe(false);
    expect(await readAll(url)).toBe(`\u0002${secret}\u0003`);
  });

  it('is deleted with its workspace', async () => {
    const run = await aRun('planning');
    const { url, workspace } = {
      url: await logUrl(`plans/${planOf(run)}`),
      workspace: expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.relationships.workspace.data.id,
    };
    expectStatus(await append(run, 0, 'one\n'), 200);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await countChunks(run)).toBe(0);
    expectStatus(await server.as(null).get(new URL(url).pathname), 404);
  });
});

describe('a read of a log without new output', () => {
  const countReaders = async (): Promise<number> => {
    const metric = await register.getSingleMetric('cadastre_run_log_reads_waiting')?.get();
    return metric?.values[0]?.value ?? NaN;
  };

  /** Reads as go-tfe does. */
  const readNext = (url: string, offset: number): Promise<string> => readPart(url, offset, 65_536, '');

  it('waits for output, and for the end of the phase', async () => {
    const run = await aRun('planning');
    const url = await logUrl(`plans/${planOf(run)}`);
    const continuation = jest.spyOn(server.resolve(RunChanges), 'continueReads');
    const first = readNext(url, 0);
    await waitUntil(async () => (await countReaders()) === 1, 'the reads wait');
    expectStatus(await append(run, 0, 'one\n'), 200);
    expect(await first).toBe('\u0002one\n');
    const next = readNext(url, 5);
    await waitUntil(async () => (await countReaders()) === 1, 'the reads wait');
    expectStatus(await report(run, 'planned', { 'has-changes': true }), 200);
    expect(await next).toBe('\u0003');
    expect(continuation.mock.calls).toEqual([[run], [run]]);
    continuation.mockRestore();
    expect(await readNext(url, 6)).toBe('');
    expect(await countReaders()).toBe(0);
  });

  it('sees output that another gateway has stored', async () => {
    const run = await aRun('planning');
    const read = readNext(await logUrl(`plans/${planOf(run)}`), 0);
    await waitUntil(async () => (await countReaders()) === 1, 'the reads wait');
    const continuation = jest.spyOn(server.resolve(RunChanges), 'continueReads').mockImplementation(() => undefined);
    expectStatus(await append(run, 0, 'one\n'), 200);
    expect(continuation).toHaveBeenCalledTimes(1);
    continuation.mockRestore();
    expect(await read).toBe('\u0002one\n');
  });

  it('does not wait for a HEAD request, nor for a range that has only the first byte', async () => {
    const url = await logUrl(`plans/${planOf(await aRun('planning'))}`);
    const waits = jest.spyOn(server.resolve(RunChanges), 'readUntilFound');
    const head = await fetch(`${server.url}${new URL(url).pathname}?offset=1&wait-seconds=30`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await readPart(url, 0, 1, '')).toBe('\u0002');
    expect(waits).not.toHaveBeenCalled();
    waits.mockRestore();
  });

  it('has the first byte if too many requests wait', async () => {
    const waits = jest.spyOn(server.resolve(RunChanges), 'readUntilFound').mockResolvedValue(null);
    expect(await readNext(await logUrl(`plans/${planOf(await aRun('planning'))}`), 0)).toBe('\u0002');
    expect(waits).toHaveBeenCalledTimes(1);
    waits.mockRestore();
  });

  it('is refused if the run is deleted, and ends if the client leaves', async () => {
    const run = await aRun('planning');
    const url = await logUrl(`plans/${planOf(run)}`);
    const { workspace } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.relationships;
    const [deleted, leaving] = [server.as(null).get(`${new URL(url).pathname}?offset=1`), new AbortController()];
    const left = fetch(`${server.url}${new URL(url).pathname}?offset=1`, { signal: leaving.signal });
    await waitUntil(async () => (await countReaders()) === 2, 'the reads wait');
    leaving.abort();
    await left.then((response) => response.text()).catch(() => undefined);
    await waitUntil(async () => (await countReaders()) === 1, 'the reads wait');
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace.data.id}`), 204);
    expectStatus(await deleted, 404);
  });

  it('is refused if it would wait too long', async () => {
    const { pathname } = new URL(await logUrl(`plans/${planOf(await aRun('planning'))}`));
    for (const seconds of ['31', '-1', 'x', '']) {
      const { errors } = expectStatus(await server.as(null).get(`${pathname}?wait-seconds=${seconds}`), 400).body;
      expect(errors[0].detail).toContain('wait-seconds must be a whole number from 0 to 30');
    }
  });
});

describe('an append', () => {
  it('is accepted again with the same bytes, also if it overlaps the end', async () => {
    const run = await aRun('planning');
    expectStatus(await append(run, 0, 'one\n'), 200);
    expect(expectStatus(await append(run, 0, 'one\n'), 200).body).toEqual({ offset: 4, truncated: false });
    expect(expectStatus(await append(run, 2, 'e\ntwo\n'), 200).body).toEqual({ offset: 8, truncated: false });
    expect(await readAll(await logUrl(`plans/${planOf(run)}`))).toBe('\u0002one\ntwo\n');
  });

  it('is refused with the expected offset if bytes are missing or differ', async () => {
    const run = await aRun('planning');
    expectStatus(await append(run, 0, 'one\n'), 200);
    for (const [offset, output] of [
      [5, 'two'],
      [0, 'ONE\n'],
      [2, 'E\ntwo\n'],
    ] as const) {
      const { errors } = expectStatus(await append(run, offset, output), 409).body;
      expect(errors[0].meta).toEqual({ offset: 4 });
      expect(errors[0].detail).toContain('Continue at offset 4');
    }
    expect(await readAll(await logUrl(`plans/${planOf(run)}`))).toBe('\u0002one\n');
  });

  it('is stored once if two executors send at the same offset', async () => {
    const run = await aRun('planning');
    const outputs = ['first\n', 'second\n', 'third\n'];
    const statuses = (await Promise.all(outputs.map((output) => append(run, 0, output)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
    const winner = outputs[statuses.indexOf(200)] ?? '';
    expect(await readAll(await logUrl(`plans/${planOf(run)}`))).toBe(`\u0002${winner}`);
  });

  it('loses the bytes that delimit logs', async () => {
    const run = await aRun('planning');
    expectStatus(await append(run, 0, 'a\u0003b\u0002'), 200);
    expectStatus(await append(run, 0, 'a\u0003b\u0002'), 200);
    expect(await readAll(await logUrl(`plans/${planOf(run)}`))).toBe('\u0002a b ');
  });

  it('is refused before the phase, after it, and for the other phase', async () => {
    const run = await makeRun(server, await aWorkspace());
    const early = expectStatus(await append(run, 0, 'one'), 409).body;
    expect(early.errors[0].detail).toBe('The plan has not started: its log accepts no output');
    await reported(run, 'planning');
    expectStatus(await agents.put(`/api/v2/applies/${applyOf(run)}/log?offset=0`, 'one'), 409);
    await reported(run, 'planned');
    const late = expectStatus(await append(run, 0, 'one'), 409).body;
    expect(late.errors[0].detail).toBe('The plan is finished: its log accepts no output');
    await act(run, 'apply');
    await reported(run, 'applying');
    expectStatus(await agents.put(`/api/v2/applies/${applyOf(run)}/log?offset=0`, 'one'), 200);
    expect(await readAll(await logUrl(`applies/${applyOf(run)}`))).toBe('\u0002one');
  });

  it.each(['', '-1', 'x', '1.5', '1e3', '99999999999999999'])('is refused with the offset "%s"', async (offset) => {
    const run = await aRun('planning');
    const { errors } = expectStatus(await append(run, offset, 'one'), 400).body;
    expect(errors[0].detail).toContain('offset must be a whole number');
  });

  it('is refused if it is larger than 1 MiB', async () => {
    const run = await aRun('planning');
    expectStatus(await append(run, 0, Buffer.alloc(1024 * 1024 + 1, 'x')), 413);
  });

  it('is cut at the limit of the log, and everything after it is dropped', async () => {
    const run = await aRun('planning');
    const line = `${'x'.repeat(1023)}\n`;
    expectStatus(await append(run, 0, line.repeat(1_000)), 200);
    const { body } = expectStatus(await append(run, 1_024_000, line.repeat(1_000)), 200);
    expect(body.truncated).toBe(true);
    expect(expectStatus(await append(run, 2_048_000, 'more'), 200).body).toEqual(body);
    const log = await readAll(await logUrl(`plans/${planOf(run)}`));
    expect(log.slice(-200)).toMatch(/x\nThe log is cut here, because it has more than 1 MiB or 20000 chunks.\n$/);
    expect(log.length - 1).toBe(body.offset);
  });

  it('needs the token of a pool that executes the run', async () => {
    const run = await aRun('planning');
    const other = await makeAgentPool(
      server,
      'acme',
      'other',
      { 'organization-scoped': false },
      { 'allowed-workspaces': related('workspaces', await aWorkspace()) },
    );
    const token = expectStatus(await agents.post(`/api/v2/runs/${run}/authentication-tokens`), 201).body.data.attributes
      .token;
    for (const api of [server, server.as(await makeAgentToken(server, other)), server.as(token)]) {
      expectStatus(await append(run, 0, 'one', api), 404);
    }
    expectStatus(await append('run-none', 0, 'one'), 404);
    expectStatus(await agents.put(`/api/v2/plans/${applyOf(run)}/log?offset=0`, 'one'), 404);
  });
});

describe('the link to a log', () => {
  it('is refused if it is forged, and if the range is no number', async () => {
    const run = await aRun('planning');
    const { pathname } = new URL(await logUrl(`plans/${planOf(run)}`));
    expectStatus(await server.as(null).get(`${pathname}x`), 403);
    for (const query of ['offset=x', 'limit=0', 'limit=1048577', 'offset=1&offset=2']) {
      expectStatus(await server.as(null).get(`${pathname}?${query}`), 400);
    }
  });

  it('ends when the person who got it loses access, and works again with new access', async () => {
    const workspace = await aWorkspace();
    const run = await makeRun(server, workspace, { 'plan-only': true });
    await reported(run, 'planning');
    const team = await makeTeam(server, 'acme', 'log-readers');
    const grant = await grantWorkspaceAccess(server, team, workspace, 'read');
    const eve = await makeMember(server, 'acme', 'eve', [team]);
    const document = expectStatus(await eve.get(`/api/v2/plans/${planOf(run)}`), 200).body.data;
    const { pathname } = new URL(document.attributes['log-read-url'] as string);
    const read = () => server.as(null).get(`${pathname}?wait-seconds=0`);
    expect(expectStatus(await read(), 200).text).toBe('\u0002');
    expectStatus(await server.delete(`/api/v2/team-workspaces/${grant}`), 204);
    expectStatus(await read(), 404);
    await grantWorkspaceAccess(server, team, workspace, 'read');
    expectStatus(await read(), 200);
    expectStatus(await server.post(`/api/v2/admin/users/${eve.id}/actions/suspend`), 200);
    expectStatus(await read(), 404);
  });
});
