import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createSampleLog,
  formatSampleExport,
  formatSampleProof,
  listSampleLines,
  signSampleCheckpoint,
  writeSampleLog,
} from '../../../test/support/trail-log.js';
import type { CommandContext } from './command-line.js';
import { runVerifierProgram } from './program.js';
import { runWatch } from './watch-command.js';

const log = createSampleLog(300);
const fork = createSampleLog(300, { privateKey: log.privateKey, forkedAt: 100 });
const TOKEN = 'a-token-of-the-auditor';

let folder: string;
let server: Server;
let url: string;
/** Answers instead of the files of the log, by path. */
const answers = new Map<string, (response: ServerResponse) => void>();
let alarms: unknown[] = [];
/** The pauses of the commands in milliseconds. */
let pauses: number[] = [];

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = request.url ?? '';
  const own = answers.get(path);
  if (own) return own(response);
  if (path === '/webhook') {
    alarms.push(JSON.parse(await text(request)));
    response.end();
    return;
  }
  if (request.headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
  else {
    const file = await readFile(join(folder, 'log', path.slice('/log/'.length))).catch(() => null);
    if (file) response.end(file);
    else response.writeHead(404).end();
  }
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-verifier-'));
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  answers.clear();
  alarms = [];
  pauses = [];
  await writeSampleLog(log, join(folder, 'log'));
});

const write = async (name: string, content: string | Uint8Array): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

type Ended = { readonly code: number; readonly output: string; readonly errors: string };

const createContext = (part: Partial<CommandContext> = {}) => {
  const [output, errors]: [string[], string[]] = [[], []];
  const context: CommandContext = {
    print: (line) => void output.push(line),
    printError: (line) => void errors.push(line),
    stdin: (async function* () {})(),
    token: null,
    signal: new AbortController().signal,
    sleep: (duration) => {
      pauses.push(duration);
      return part.signal?.aborted ? Promise.reject(new Error('aborted')) : Promise.resolve();
    },
    ...part,
  };
  const end = (code: number): Ended => ({ code, output: output.join('\n'), errors: errors.join('\n') });
  return { context, end };
};

const run = async (parameters: readonly string[], part: Partial<CommandContext> = {}): Promise<Ended> => {
  const { context, end } = createContext(part);
  return end(await runVerifierProgram(parameters, context));
};

const key = ['--key', log.verifierKey];

describe('cadastre-verify verify', () => {
  it('reports what it verified', async () => {
    const content = formatSampleExport(await signSampleCheckpoint(log), await listSampleLines(log));
    const file = await write('export.ndjson', content);
    const since = await write('since.checkpoint', await signSampleCheckpoint(log, 100));
    const keys = await write('keys.txt', `# keys of acme\n\n${createSampleLog(1).verifierKey}\n${log.verifierKey}\n`);
    const ended = await run(['verify', file, '--key', keys, '--since', since]);

    expect(ended).toMatchObject({ code: 0, errors: '' });
    expect(ended.output).toMatch(/^VERIFIED\nlog: +cadastre\.example\.com\/org-7hGt3KmPq9RsVw2X\n/);
    expect(ended.output).toMatch(/checkpoint: +300 entries, root \S{44}\nsigned by +cadastre\.example\.com/);
    expect(ended.output).toMatch(/entries: +300, from index 0 to 299\nwithheld: +0 personal values/);
    expect(ended.output).toMatch(/extends: +the checkpoint of 100 entries that was given$/);

    const stdin = (async function* () {
      yield await Promise.resolve(Buffer.from(content));
    })();
    expect(await run(['verify', '-', ...key], { stdin })).toMatchObject({ code: 0 });
  });

  it('ends with 1 and names the entry that was altered', async () => {
    const lines = await listSampleLines(log);
    const altered = lines.map((line) => (line.index === 42 ? { ...line, salt: lines[0]?.salt } : line));
    const file = await write('altered.ndjson', formatSampleExport(await signSampleCheckpoint(log), altered));
    expect(await run(['verify', file, ...key])).toEqual({
      code: 1,
      output: '',
      errors: 'NOT VERIFIED (altered): line 44: entry 42 was altered',
    });
  });

  it('verifies a proof of one entry', async () => {
    const proof = await write('77.tlog-proof', await formatSampleProof(log, 77));
    const entry = await write('77.json', JSON.stringify(log.entries[77]?.entry));
    const other = await write('78.json', JSON.stringify(log.entries[78]?.entry));
    expect(await run(['verify', proof, '--entry', entry, ...key])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^entry: +77$/m) as unknown,
    });
    expect(await run(['verify', proof, '--entry', other, ...key])).toMatchObject({ code: 1 });
    expect(await run(['verify', proof, ...key])).toMatchObject({
      code: 2,
      errors: '--entry: name the file with the entry',
    });
  });

  it('verifies a log in a folder and at a URL with a token', async () => {
    const code = await run(['verify', join(folder, 'log'), ...key]);
    expect(code).toMatchObject({ code: 0, output: expect.stringMatching(/tree: +all 300 leaf hashes/) as unknown });
    expect(await run(['verify', `${url}/log`, ...key], { token: TOKEN })).toMatchObject({ code: 0 });
    expect(await run(['verify', `${url}/log/`, ...key])).toMatchObject({
      code: 3,
      errors: 'Could not verify: checkpoint: the server answers 401 without a token',
    });
  });

  it('reads again what the server could not answer at once', async () => {
    const file = await readFile(join(folder, 'log/tile/0/000'));
    answers.set('/log/tile/0/000', (response) => {
      answers.set('/log/tile/0/000', (second) => second.end(file));
      response.writeHead(503).end();
    });
    expect(await run(['verify', `${url}/log`, ...key], { token: TOKEN })).toMatchObject({ code: 0 });
  });

  it('sends no token without TLS, except to this machine', async () => {
    expect(await run(['verify', 'http://cadastre.example.com/log', ...key], { token: TOKEN })).toEqual({
      code: 3,
      output: '',
      errors: 'Could not verify: http://cadastre.example.com: the token is sent only with https',
    });
  });

  it.each<[string, readonly string[], number, string | RegExp]>([
    ['no key', ['verify', '.'], 2, '--key: name a verifier key or a file with verifier keys'],
    ['a key that is none', ['verify', '.', '--key', 'none'], 2, '--key: must be NAME+ID+KEY or a file, got none'],
    ['a key with another id', ['verify', '.', '--key', 'a+00000000+AQ=='], 2, /^--key: must be a verifier key/],
    ['no file', ['verify', ...key], 2, /^name one source\nSee/],
    ['two files', ['verify', 'a', 'b', ...key], 2, /^name one source\nSee/],
    ['an unknown option', ['verify', 'a', '--jsonn'], 2, /^Unknown option '--jsonn'/],
    ['an option without a value', ['verify', 'a', '--key'], 2, /argument missing/],
    ['an option for another kind', ['verify', '.', '--filtered', ...key], 2, '--filtered: is for an export only'],
    ['a file that does not exist', ['verify', '/does/not/exist', ...key], 3, /^Could not verify: ENOENT/],
    ['an empty folder', ['verify', '.', ...key], 3, 'Could not verify: checkpoint is not there'],
    ['a URL that is none', ['verify', 'http://[', ...key], 2, /^must be a URL or a folder, got http:\/\/\[$/],
    ['no command', [], 2, /^Usage: cadastre-verify <command>/],
  ])('is refused with %s', async (_, parameters, code, message) => {
    const ended = await run(parameters);
    expect(ended.code).toBe(code);
    expect(ended.errors).toMatch(message);
  });

  it('prints its help', async () => {
    const ended = await run(['verify', '--help']);
    expect(ended).toMatchObject({ code: 0, errors: '' });
    expect(ended.output).toMatch(/--since <file>/);
    expect(await run(['--help'])).toMatchObject({ code: 0, errors: '' });
  });

  it('prints no control characters of a file', async () => {
    const text = formatSampleExport(await signSampleCheckpoint(log), [{ '\u001b[31m': 1 }]);
    expect((await run(['verify', await write('hostile.ndjson', text), ...key])).errors).not.toContain('\u001b');
  });
});

describe('cadastre-verify watch', () => {
  let state: string;

  beforeEach(async () => {
    state = await mkdtemp(join(folder, 'state-'));
  });

  const watch = (...more: readonly string[]): Promise<Ended> =>
    run(['watch', `${url}/log`, ...key, '--state', state, '--webhook', `${url}/webhook`, '--once', ...more], {
      token: TOKEN,
    });

  const serve = (served: typeof log, size: number): Promise<void> => writeSampleLog(served, join(folder, 'log'), size);

  it('keeps checkpoints that extend each other', async () => {
    await serve(log, 200);
    expect(await watch()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/200 entries, the first/) as unknown,
    });
    await serve(log, 300);
    expect(await watch()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/300 entries, extends 200$/) as unknown,
    });
    expect(await watch()).toMatchObject({
      code: 0,
      output: expect.stringMatching(/unchanged: 300 entries since/) as unknown,
    });
    expect(await readFile(join(state, 'latest.checkpoint'), 'utf8')).toBe(await signSampleCheckpoint(log, 300));
    expect((await readdir(state)).filter((name) => /^\d{4}-\d\d-\d\d\.checkpoint$/.test(name))).not.toEqual([]);
    expect(alarms).toEqual([]);
  });

  it.each<[string, typeof log, number, string]>([
    ['a rollback', log, 200, 'rollback'],
    ['a fork of the same size', fork, 250, 'split-view'],
    ['a fork that is larger', fork, 300, 'split-view'],
    ['another key', createSampleLog(300), 300, 'signature'],
  ])('raises an alarm at %s, and keeps both checkpoints', async (_, served, size, problem) => {
    await serve(log, 250);
    expect(await watch()).toMatchObject({ code: 0 });
    await serve(served, size);
    expect(await watch()).toMatchObject({ code: 1, errors: expect.stringContaining(problem) as unknown });

    expect(alarms).toEqual([
      expect.objectContaining({
        alarm: problem,
        log: `${url}/log`,
        text: expect.stringContaining('Audit trail of') as unknown,
      }),
    ]);
    expect(await readFile(join(state, 'latest.checkpoint'), 'utf8')).toBe(await signSampleCheckpoint(log, 250));
    expect((await readdir(state)).filter((name) => name.startsWith('alarm-'))).toHaveLength(1);
  });

  it('raises an alarm if the log is gone or does not grow', async () => {
    await serve(log, 250);
    expect(await watch()).toMatchObject({ code: 0 });
    await writeFile(join(state, 'latest.time'), '2020-01-01T00:00:00.000Z\n');
    expect(await watch('--stopped-after', '7d')).toMatchObject({
      code: 3,
      errors: expect.stringContaining(
        'the log has stopped: it has 250 entries since 2020-01-01T00:00:00.000Z',
      ) as unknown,
    });
    answers.set('/log/checkpoint', (response) => response.writeHead(404).end());
    const failed = { code: 3, errors: expect.stringContaining('Could not verify: checkpoint is not there') as unknown };
    expect(await watch('--stopped-after', '7d')).toMatchObject(failed);
    expect(alarms).toMatchObject([{ alarm: 'stopped' }, { alarm: 'stopped' }]);
    // One check in vain does not show that the log has stopped.
    expect(await watch()).toMatchObject(failed);
    expect(alarms).toHaveLength(2);
    const { context, end } = createContext({ token: TOKEN });
    const options = { key: [log.verifierKey], state, interval: '1m', webhook: `${url}/webhook` };
    expect(end(await runWatch(`${url}/log`, options, context))).toMatchObject(failed);
    expect(pauses).toEqual([60_000, 60_000]);
    expect(alarms).toHaveLength(3);
  });

  it('sends an alarm again after a pause, and also if the folder cannot keep it', async () => {
    await serve(log, 250);
    expect(await watch()).toMatchObject({ code: 0 });
    await serve(log, 200);
    const fail = (response: ServerResponse): void => void response.writeHead(503).end();
    answers.set('/webhook', (response) => {
      answers.set('/webhook', (second) => {
        answers.delete('/webhook');
        fail(second);
      });
      fail(response);
    });
    // The name of the folder is taken between the check and the alarm, as if the disk had no place left.
    const served = await readFile(join(folder, 'log/checkpoint'));
    answers.set('/log/checkpoint', (response) => {
      rmSync(state, { recursive: true });
      writeFileSync(state, '');
      response.end(served);
    });
    const ended = await watch();
    expect(ended).toMatchObject({
      code: 1,
      errors: expect.stringContaining('the alarm cannot be kept: ENOTDIR') as unknown,
    });
    expect(ended.errors).toContain('NOT VERIFIED (rollback)');
    expect(pauses).toEqual([1_000, 10_000]);
    expect(alarms).toMatchObject([{ alarm: 'rollback' }]);
  });

  it('raises an alarm if the kept checkpoint was altered', async () => {
    await serve(log, 250);
    await watch();
    await writeFile(join(state, 'latest.checkpoint'), await signSampleCheckpoint(createSampleLog(250), 250));
    expect(await watch()).toMatchObject({ code: 1 });
  });

  it('checks again and again until it is stopped', async () => {
    const controller = new AbortController();
    const { context, end } = createContext({ token: TOKEN, signal: controller.signal });
    let checks = 0;
    const checkpoint = await signSampleCheckpoint(log);
    answers.set('/log/checkpoint', (response) => {
      checks += 1;
      if (checks === 3) controller.abort();
      response.end(checkpoint);
    });
    const options = { key: [log.verifierKey], state, interval: '1s' };
    expect(end(await runWatch(`${url}/log`, options, context))).toMatchObject({ code: 0 });
    expect(checks).toBe(3);
  });

  it.each<[string, readonly string[], string | RegExp]>([
    ['no folder', ['watch', '.', ...key], '--state: name the folder for checkpoints'],
    ['a URL that is none', ['watch', 'http://[', ...key, '--state', '/tmp'], 'must be a URL or a folder, got http://['],
    [
      'a wrong interval',
      ['watch', '.', ...key, '--state', '/tmp', '--interval', '1'],
      /^--interval: must be a time up to 24d/,
    ],
    [
      'a long interval',
      ['watch', '.', ...key, '--state', '/tmp', '--interval', '25d'],
      /^--interval: must be a time up to 24d/,
    ],
    [
      'a wrong webhook',
      ['watch', '.', ...key, '--state', '/tmp', '--webhook', 'file:///a'],
      /^--webhook: must be a URL/,
    ],
  ])('is refused with %s', async (_, parameters, message) => {
    const ended = await run(parameters);
    expect(ended.code).toBe(2);
    expect(ended.errors).toMatch(message);
  });
});
