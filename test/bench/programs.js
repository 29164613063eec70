import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The programs that load is made with; node has none as good. */
const PROGRAMS = {
  wrk: 'apt-get install wrk (Debian, Ubuntu), brew install wrk',
  pgbench: 'apt-get install postgresql-contrib (Debian, Ubuntu), brew install postgresql',
};

/** One line for each that is missing. */
export const missingPrograms = (...names) =>
  names
    .filter((name) => spawnSync(name, ['--version']).error)
    .map((name) => `${name} is missing, and the load is made with it: ${PROGRAMS[name]}`);

export const output = async (program, args, env) => {
  const { stdout } = await execute(program, args, { env: { PATH: process.env.PATH, ...env } });
  return stdout;
};
