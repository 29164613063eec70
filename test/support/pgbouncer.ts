import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.js';
import { runKeptProgram, type KeptProgram } from './kept-program.js';
import { waitUntil } from './product.js';
import { requirePrograms } from './programs.js';

export type PoolMode = 'session' | 'transaction';

/** A real PgBouncer in front of a Postgres. */
export type PgBouncer = {
  /** Returns the URL of a database behind the pooler; by default the database of the Postgres URL. */
  urlOf(database?: string): string;
  /** Sends SIGKILL, and starts it again with the same port. */
  restart(): Promise<void>;
  remove(): Promise<void>;
};

const formatConfiguration = (server: URL, port: number, mode: PoolMode): string => {
  const host = server.searchParams.get('host') ?? server.hostname;
  const account = `user=${server.username} password=${decodeURIComponent(server.password)}`;
  return [
    '[databases]',
    `* = host=${host} port=${server.port} ${account}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    // Accepts any user, and uses the account of the line above.
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 80',
    'server_login_retry = 1',
    '',
  ].join('\n');
};

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

export const startPgBouncer = async (postgresUrl: string, mode: PoolMode): Promise<PgBouncer> => {
  requirePrograms('pgbouncer');
  const server = new URL(postgresUrl);
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-pgbouncer-'));
  const [port] = await freePorts();
  const configuration = join(folder, 'pgbouncer.ini');
  await writeFile(configuration, formatConfiguration(server, port, mode));
  // PgBouncer refuses to run as root, and reads its configuration as the other user.
  await chmod(folder, 0o755);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  let running: KeptProgram | null = null;
  const launch = async (): Promise<void> => {
    running = await runKeptProgram('pgbouncer', ['-q', ...user, configuration], join(folder, 'log'));
    await waitUntil(() => {
      const failure = running?.failure();
      if (failure) throw new Error(`PgBouncer ended: ${failure}`);
      return answers(port);
    }, 'PgBouncer answers');
  };
  await launch();
  return {
    urlOf: (database = server.pathname.slice(1)) =>
      `postgres://${server.username || 'any'}:any@127.0.0.1:${port}/${database}`,
    restart: async () => {
      await running?.kill();
      await launch();
    },
    remove: async () => {
      await running?.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
