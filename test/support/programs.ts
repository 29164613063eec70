import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

// The programs that tests run, which npm does not install: how to find them, and which tests need them. `npm test` installs
// what the selected tests need before it starts Jest, which is why this file imports no other file of the tests.

/** Chromium without windows takes a quarter less processor time. */
const CHROMIUM_PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns the path of the Chromium that the system has, or undefined. */
export const findInstalledChromium = (): string | undefined => CHROMIUM_PATHS.find((path) => existsSync(path));

/** Returns true if npm has a Chromium for this machine. */
export const hasNpmChromium = (): boolean => process.platform === 'linux' && process.arch === 'x64';

const isInContainers = (): boolean => process.env['CADASTRE_TEST_SERVERS'] === 'containers';

type Program = {
  /** Packages of Debian and Ubuntu that contain the program. */
  readonly packages: readonly string[];
  /** Returns false if the machine has no such program, or one that is too old. */
  readonly isInstalled: () => boolean;
};

const execute = (program: string, ...args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });

const isOnPath = (program: string) => (): boolean => execute('sh', '-c', 'command -v "$1"', 'sh', program).status === 0;

/** Java prints its version to stderr, such as: openjdk version "17.0.15" 2025-04-15. Java 8 names itself "1.8". */
const hasJava17 = (): boolean =>
  Number(/version "(\d+)/.exec(execute('java', '-version').stderr ?? '')?.[1] ?? 0) >= 17;

const PYTHON_CHECK = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';

const PROGRAMS = {
  bwrap: { packages: ['bubblewrap'], isInstalled: isOnPath('bwrap') },
  chromium: { packages: ['chromium-headless-shell'], isInstalled: () => findInstalledChromium() !== undefined },
  curl: { packages: ['curl', 'ca-certificates'], isInstalled: isOnPath('curl') },
  gcc: { packages: ['gcc', 'libc6-dev'], isInstalled: isOnPath('gcc') },
  git: { packages: ['git'], isInstalled: isOnPath('git') },
  // Any Go is enough, because test/support/install-go lets it download a newer one.
  go: {
    packages: ['golang-go', 'ca-certificates'],
    isInstalled: () =>
      isOnPath('go')() || execute('bash', join(import.meta.dirname, 'install-go'), '--find').status === 0,
  },
  gpg: { packages: ['gnupg'], isInstalled: isOnPath('gpg') },
  java: { packages: ['default-jre-headless'], isInstalled: hasJava17 },
  jq: { packages: ['jq'], isInstalled: isOnPath('jq') },
  mvn: { packages: ['maven'], isInstalled: isOnPath('mvn') },
  openssl: { packages: ['openssl'], isInstalled: isOnPath('openssl') },
  pgbouncer: { packages: ['pgbouncer'], isInstalled: isOnPath('pgbouncer') },
  postgres: { packages: ['postgresql'], isInstalled: () => existsSync('/usr/lib/postgresql') },
  ps: { packages: ['procps'], isInstalled: isOnPath('ps') },
  prlimit: { packages: ['util-linux'], isInstalled: isOnPath('prlimit') },
  python3: {
    packages: ['python3', 'python3-venv'],
    isInstalled: () => execute('python3', '-c', PYTHON_CHECK).status === 0,
  },
  'ssh-add': { packages: ['openssh-client'], isInstalled: isOnPath('ssh-add') },
  'ssh-agent': { packages: ['openssh-client'], isInstalled: isOnPath('ssh-agent') },
  'ssh-keygen': { packages: ['openssh-client'], isInstalled: isOnPath('ssh-keygen') },
  sshd: { packages: ['openssh-server'], isInstalled: () => existsSync('/usr/sbin/sshd') },
  'systemd-analyze': { packages: ['systemd'], isInstalled: isOnPath('systemd-analyze') },
  zip: { packages: ['zip'], isInstalled: isOnPath('zip') },
} as const satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof PROGRAMS;

/** The programs for a spec or for all specs that import a file, by the path of the file. */
const NEEDS: Readonly<Record<string, readonly ProgramName[]>> = {
  // Other systems have no namespaces, and the tests only check what the executor says about that.
  'apps/executor/src/sandbox/find-sandbox.ts': process.platform === 'linux' ? ['bwrap', 'prlimit'] : [],
  'libs/platform/host/embedded-postgres/embedded-postgres.spec.ts': ['ps'],
  'libs/identity/workload-identities/exchange/pipelines.spec.ts': ['curl', 'jq'],
  'test/architecture/retired-words.ts': ['git'],
  'test/architecture/test-runner.spec.ts': ['ps'],
  'test/cli/assessments.spec.ts': ['go'],
  'test/deploy/release.spec.ts': ['git'],
  'test/deploy/systemd.spec.ts': ['systemd-analyze'],
  'test/deploy/tools.ts': ['go'],
  'test/docs/commands.spec.ts': ['curl', 'gpg', 'jq', 'openssl', 'ssh-keygen', 'zip'],
  'test/docs/time-stamp-commands.spec.ts': ['curl', 'jq', 'openssl'],
  'test/support/browser.ts': hasNpmChromium() || process.env['CHROMIUM_PATH'] !== undefined ? [] : ['chromium'],
  'test/support/example-programs.ts': ['go', 'python3'],
  'test/support/foreign-saml-provider.ts': ['go'],
  'test/support/foreign-verifiers.ts': ['go'],
  'test/support/gitea.ts': ['gcc', 'git', 'go'],
  'test/support/git-over-ssh.ts': ['git', 'ssh-keygen', 'sshd'],
  'test/support/java.ts': ['java', 'mvn'],
  'test/support/jest/watchdog.ts': ['ps'],
  'test/support/kafka/index.ts': isInContainers() ? [] : ['java', 'mvn'],
  'test/support/litewitness.ts': ['go', 'ssh-add', 'ssh-agent', 'ssh-keygen'],
  'test/support/opa.ts': ['go'],
  'test/support/openbao.ts': ['python3'],
  'test/support/pgbouncer.ts': ['pgbouncer'],
  'test/support/previous-release.ts': ['git'],
  'test/support/servers/system.ts': ['postgres'],
  'test/support/time-stamp-authority.ts': ['openssl'],
  'test/support/python.ts': ['python3'],
};

const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  'test/cli/assessments.spec.ts': ['test/support/install-go', 'test/support/install-local-provider'],
  'test/deploy/tools.ts': ['test/deploy/install-tools'],
  'test/support/example-programs.ts': ['test/support/install-go'],
  'test/support/foreign-saml-provider.ts': ['test/support/install-go'],
  'test/support/foreign-verifiers.ts': ['test/support/install-go'],
  'test/support/gitea.ts': ['test/support/install-gitea', 'test/support/install-go'],
  'test/support/litewitness.ts': ['test/support/install-go'],
  'test/support/opa.ts': ['test/support/install-opa', 'test/support/install-go'],
  'test/support/openbao.ts': ['test/support/install-openbao'],
};

const IMPORT = /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']+)\.js';$/gm;

/** Returns a file and all files of the repository that it imports, except by the name of a module. */
const listImports = (root: string, path: string, files = new Set<string>()): Set<string> => {
  const name = relative(root, path);
  if (files.has(name) || !existsSync(path)) return files;
  files.add(name);
  for (const [, imported = ''] of readFileSync(path, 'utf8').matchAll(IMPORT))
    listImports(root, join(dirname(path), `${imported}.ts`), files);
  return files;
};

/** Returns the programs that these specs need, and the scripts that build more programs from them. */
export const listNeeds = (
  root: string,
  specs: readonly string[],
): { readonly programs: readonly ProgramName[]; readonly scripts: readonly string[] } => {
  const files = new Set<string>();
  for (const spec of specs) listImports(root, join(root, relative(root, spec)), files);
  const lookUp = <T>(table: Readonly<Record<string, readonly T[]>>): readonly T[] =>
    [...new Set([...files].flatMap((file) => table[file] ?? []))].toSorted();
  return { programs: lookUp(NEEDS), scripts: lookUp(SCRIPTS) };
};

/** Returns the programs that the machine lacks. */
export const listMissingPrograms = (needed: readonly ProgramName[]): readonly ProgramName[] =>
  needed.filter((name) => !PROGRAMS[name].isInstalled());

/** Returns the packages of Debian and Ubuntu that contain the programs. */
export const listPackages = (programs: readonly ProgramName[]): readonly string[] =>
  [...new Set(programs.flatMap((name): readonly string[] => PROGRAMS[name].packages))].toSorted();

/** Returns the instruction for a person who runs the tests without them. */
export const describeMissingPrograms = (missing: readonly ProgramName[], hasApt: boolean): string => {
  const packages = listPackages(missing).join(' ');
  const names = `The selected tests need programs that this machine lacks: ${missing.join(', ')}.\n`;
  const install = `apt-get update && apt-get install --yes --no-install-recommends ${packages}`;
  return hasApt
    ? `${names}Install them, and run the tests again:\n  sudo sh -c '${install}'\n`
    : `${names}Install them, and run the tests again. Packages of Debian and Ubuntu contain them: ${packages}\n`;
};

/** Fails if the machine lacks a program. `npm test` installs it before the tests. */
export const requirePrograms = (...names: readonly ProgramName[]): void => {
  const missing = listMissingPrograms(names);
  if (missing.length === 0) return;
  throw new Error(
    `This test needs ${missing.join(' and ')}. Run it with npm test, or install ${listPackages(missing).join(' and ')}.`,
  );
};
