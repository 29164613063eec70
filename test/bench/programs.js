import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Programs that create the load. Node has none that is as good. */
const PROGRAMS = {
  wrk: 'apt-get install wrk (Debian, Ubuntu), brew install wrk',
  pgbench: 'apt-get install postgresql-contrib (Debian, Ubuntu), brew install postgresql',
};

/** Returns a line for each missing program. */
export const missingPrograms = (...names) =>
  names
    .filter((name) => spawnSync(name, ['--version']).error)
    .map((name) => `${name} is required to create the load. Install it: ${PROGRAMS[name]}`);

export const output = async (program, args, env) => {
  const { stdout } = await execute(program, args, { env: { PATH: process.env.PATH, ...env } });
  return stdout;
};
