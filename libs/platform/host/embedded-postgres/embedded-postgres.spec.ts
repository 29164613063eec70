import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { startChild, kill, createRecordingLogger, removeFolder, createTemporaryFolder } from '../spec.js';
import { readFileOrNull } from '../machine/atomic-file.js';
import { isAlive } from '../machine/signals.js';
import { getErrorCode } from '#platform/kernel';

const query = async (url: string, text: string): Promise<unknown[][]> => {
  const client = new pg.Client({ connectionString: url });
  // Postgres may be killed during the connection; the query reports the error.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
};

const answers = async (url: string, text: string): Promise<unknown[][]> => {
  for (;;) {
    try {
      return await query(url, text);
    } catch (error) {
      // The connection is refused until Postgres listens again, and then gets 57P03 until it has recovered.
      const code = getErrorCode(error);
      if (code !== 'ECONNREFUSED' && code !== '57P03' && code !== 'ECONNRESET') throw error;
    }
  }
};

const mainProcess = async (folder: string): Promise<number> =>
  Number.parseInt(await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8'), 10);

describe('the embedded Postgres', () => {
  let parent: string;
  let folder: string;
  const running = new Set<EmbeddedPostgres>();
  const start = async (options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> => {
    const postgres = await startEmbeddedPostgres({ folder, logger: createRecordingLogger(), ...options });
    running.add(postgres);
    return postgres;
  };

  beforeAll(async () => {
    parent = await createTemporaryFolder();
    folder = join(parent, 'data', 'postgres');
    // The data folder of Cadastre has the mode 0700, which also excludes the user that runs Postgres.
    await mkdir(join(parent, 'data'), { mode: 0o700 });
  });
  afterEach(async () => {
    await Promise.all([...running].map((postgres) => postgres.stop()));
    running.clear();
  });
  afterAll(() => removeFolder(parent));

  it('starts, responds over TCP and over its socket, and has the required settings', async () => {
    const postgres = await start();
    expect(await query(postgres.url, 'select 1')).toEqual([[1]]);
    expect(await query(postgres.socketUrl ?? '', 'select inet_server_addr()')).toEqual([[null]]);
    const setting = `select string_agg(name || '=' || setting, ' ' order by name) from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'jit', 'TimeZone', 'data_checksums')`;
    expect(await query(postgres.url, setting)).toEqual([
      ['TimeZone=UTC data_checksums=on fsync=on full_page_writes=on jit=off synchronous_commit=on'],
    ]);
    const locale = 'select datname, pg_encoding_to_char(encoding), datlocprovider, datlocale from pg_database';
    expect(await query(postgres.url, `${locale} where datname = current_database()`)).toEqual([
      ['cadastre', 'UTF8', 'b', 'C.UTF-8'],
    ]);
    await query(postgres.url, `create table kept as select 'across restarts' as what`);
  });

  it('refuses a wrong password', async () => {
    const { url } = await start();
    await expect(query(url.replace(/:[^:@]+@/, ':guess@'), 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('keeps its data, its port and its password after a stop', async () => {
    const first = await start();
    await first.stop();
    await expect(query(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select what from kept')).toEqual([['across restarts']]);
  });

  it('stops although a client is connected, even if two callers stop it', async () => {
    const postgres = await start();
    const client = new pg.Client({ connectionString: postgres.url });
    const cut = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    await Promise.all([postgres.stop(), postgres.stop()]);
    expect(await cut).toHaveProperty('message');
  });

  it('is restarted with the same URL after it was killed', async () => {
    const died = new Promise(
      (resolve) =>
        void start({ onExit: resolve }).then(async ({ url }) => {
          await query(url, 'create table acknowledged ()');
          process.kill(await mainProcess(folder), 'SIGKILL');
        }),
    );
    expect(await died).toEqual({ code: null, signal: 'SIGKILL', restartIn: 100 });
    const [postgres] = running;
    expect(await answers(postgres?.url ?? '', 'select count(*)::int from acknowledged')).toEqual([[0]]);
  });

  it('is not restarted if it is stopped after it was killed', async () => {
    const died = Promise.withResolvers<void>();
    const postgres = await start({ onExit: () => died.resolve() });
    process.kill(await mainProcess(folder), 'SIGKILL');
    await died.promise;
    await postgres.stop();
    // A process that Postgres forked just before its end may still have the socket open, and then resets the
    // connection.
    await expect(query(postgres.url, 'select 1')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  });

  const startInChild = () =>
    startChild(`
    const { startEmbeddedPostgres } = await host('embedded-postgres/embedded-postgres.js');
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const { url } = await startEmbeddedPostgres({ folder: ${JSON.stringify(folder)}, logger });
    console.log(url);
  `);

  it('stops soon after the process that started it is killed', async () => {
    const { child } = await startInChild();
    await kill(child);
    // Removing this file is the last step of an orderly shutdown; the process may remain as a zombie.
    const pidFile = () => readFileOrNull(join(folder, 'cluster', 'postmaster.pid'));
    while ((await pidFile()) !== null) await new Promise(setImmediate);
    expect(await pidFile()).toBeNull();
  });

  it('is stopped and started again if an earlier run has left it running', async () => {
    const { child, firstLine } = await startInChild();
    await query(firstLine, 'create table orphaned ()');
    const orphan = await mainProcess(folder);
    // The shell that watches the parent is killed first, which is the worst case.
    for (const pid of childrenOf(child.pid)) if (pid !== orphan) process.kill(pid, 'SIGKILL');
    await kill(child);
    expect(isAlive(orphan)).toBe(true);
    const logger = createRecordingLogger();
    const { url } = await start({ logger });
    expect(logger.lines.join('\n')).toContain('stopping Postgres processes of an earlier run');
    expect(await mainProcess(folder)).not.toBe(orphan);
    expect(await query(url, 'select count(*)::int from orphaned')).toEqual([[0]]);
  });

  it('starts although another process has the process id of its earlier run', async () => {
    await writeFile(
      join(folder, 'cluster', 'postmaster.pid'),
      `${process.pid}\n/elsewhere\n0\n5432\n\n\n  1  1\nready\n`,
    );
    const { url } = await start();
    expect(await query(url, 'select 1')).toEqual([[1]]);
  });

  it('reports the error of Postgres if it cannot start', async () => {
    const version = join(folder, 'cluster', 'PG_VERSION');
    const content = await readFile(version, 'utf8');
    await writeFile(version, '9\n');
    await expect(start()).rejects.toThrow('database files are incompatible with server');
    await writeFile(version, content);
  });
});

const childrenOf = (pid: number | undefined): readonly number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child = 0]) => child);
