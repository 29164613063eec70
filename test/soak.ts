import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// `npm run soak`: runs the tests with random choices for many rounds. They are the specs that import `support/rounds.ts`.
// Arguments are passed on to Jest.

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = '20';

const specs = globSync('{apps,libs,test}/**/*.spec.ts', { cwd: ROOT }).filter((file) =>
  readFileSync(join(ROOT, file), 'utf8').includes("/support/rounds.js'"),
);
const { status } = spawnSync(process.execPath, ['test/run.ts', ...specs.toSorted(), ...process.argv.slice(2)], {
  cwd: ROOT,
  env: { CADASTRE_ROUNDS: ROUNDS, ...process.env },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
