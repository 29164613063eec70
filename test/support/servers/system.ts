import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../free-ports.js';
import { startOnJava } from '../kafka/java-broker.js';
import { runKeptProgram } from '../kept-program.js';
import { requirePrograms } from '../programs.js';
import { WITHOUT_SYNCS, type Servers } from './servers.js';

const run = promisify(execFile);

const PACKAGED = '/usr/lib/postgresql';

/** Returns the folder with the programs of the oldest Postgres that packages of Debian and Ubuntu have installed. */
const findPackagedPostgres = async (): Promise<string> => {
  requirePrograms('postgres');
  const majors = (await readdir(PACKAGED)).map(Number).toSorted((one, other) => one - other);
  return join(PACKAGED, String(majors[0]), 'bin');
};

/** Postgres refuses to run as root. The packages have created this user. */
const asPostgresUser = (): readonly string[] =>
  process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];

const readUserId = async (flag: '-u' | '-g'): Promise<number> =>
  Number((await run('id', process.getuid?.() === 0 ? [flag, 'postgres'] : [flag])).stdout);

/** Starts the packaged Postgres, an earlier major than that of the product. */
export const startPackagedPostgres = async (): ReturnType<Servers['startPostgres']> => {
  const programs = await findPackagedPostgres();
  // The folder for data belongs to root, and other users cannot enter it.
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-packaged-'));
  await chown(folder, await readUserId('-u'), await readUserId('-g'));
  const [port] = await freePorts();
  const cluster = join(folder, 'cluster');
  const [initdb, ...initdbArguments] = [
    ...asPostgresUser(),
    join(programs, 'initdb'),
    `--pgdata=${cluster}`,
    '--username=cadastre',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ];
  await run(initdb, initdbArguments, { cwd: '/' });
  const settings = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', ...WITHOUT_SYNCS };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program = '', ...programArguments] = [
    ...asPostgresUser(),
    join(programs, 'postgres'),
    '-D',
    cluster,
    ...flags,
  ];
  const server = await runKeptProgram(program, programArguments, join(folder, 'log'));
  const url = `postgresql://cadastre@127.0.0.1:${port}/postgres`;
  await waitForPostgres(programs, port, () => server.failure());
  return {
    url,
    stop: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const waitForPostgres = async (programs: string, port: number, failure: () => string | null): Promise<void> => {
  for (;;) {
    const problem = failure();
    if (problem) throw new Error(`the packaged Postgres ended: ${problem}`);
    const isReady = await run(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).then(
      () => true,
      () => false,
    );
    if (isReady) return;
  }
};

/** The Postgres of the system's packages, and Kafka on the Java of this machine. */
export const system: Servers = { startPostgres: startPackagedPostgres, startKafka: startOnJava };
