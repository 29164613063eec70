import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

// `npm run check:supply-chain` checks signatures of the packages, known weaknesses, and secrets in the history. With arguments it
// runs only the named checks. It reports a service that does not answer, but does not fail, because some machines have no network.

const ROOT = join(import.meta.dirname, '..');
const GITLEAKS = 'v8.30.1';
const OSV = process.env['OSV_URL'] ?? 'https://api.osv.dev';
/** The most queries that OSV accepts in one request. */
const OSV_BATCH = 1_000;
const TIMEOUT_MS = 30_000;

type SupplyChainResult = { readonly result: 'passed' | 'FAILED' | 'not checked'; readonly detail: string };

const runProgram = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', env });
  return { status, output: `${stdout ?? ''}${stderr ?? ''}`.trim() };
};

/** npm exits with 1 for a wrong signature and for a registry without an answer. */
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|audit endpoint returned an error|no such host|dial tcp/;

const checkSignatures = (): SupplyChainResult => {
  const { status, output } = runProgram('npm', ['audit', 'signatures']);
  if (status === 0) return { result: 'passed', detail: output };
  const unreachable = UNREACHABLE.exec(output)?.[0];
  return unreachable === undefined
    ? { result: 'FAILED', detail: output }
    : { result: 'not checked', detail: `the registry's keys cannot be read (${unreachable})` };
};

type Package = { readonly name: string; readonly version: string };

/** Returns the packages that the product installs, from the lock file. */
const listPackages = (): readonly Package[] => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string; readonly dev?: boolean }>>;
  };
  return Object.entries(packages).flatMap(([path, { version, dev }]) =>
    path === '' || version === undefined || dev ? [] : [{ name: path.replace(/^.*node_modules\//, ''), version }],
  );
};

/** Returns a line for each weakness that OSV lists for these packages. */
const queryOsv = async (packages: readonly Package[]): Promise<readonly string[]> => {
  const queries = packages.map(({ name, version }) => ({ package: { name, ecosystem: 'npm' }, version }));
  const response = await fetch(`${OSV}/v1/querybatch`, {
    method: 'POST',
    body: JSON.stringify({ queries }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new TypeError(`status ${response.status}`);
  const { results } = (await response.json()) as {
    readonly results: readonly { readonly vulns?: readonly { readonly id: string }[] }[];
  };
  return packages.flatMap(({ name, version }, index) =>
    (results[index]?.vulns ?? []).map(({ id }) => `${name} ${version}: https://osv.dev/${id}`),
  );
};

const checkWeaknesses = async (): Promise<SupplyChainResult> => {
  const packages = listPackages();
  try {
    const weaknesses: string[] = [];
    for (let start = 0; start < packages.length; start += OSV_BATCH)
      weaknesses.push(...(await queryOsv(packages.slice(start, start + OSV_BATCH))));
    return weaknesses.length === 0
      ? { result: 'passed', detail: `OSV lists no weakness of ${packages.length} packages` }
      : { result: 'FAILED', detail: weaknesses.join('\n') };
  } catch (error) {
    const { message, cause } = error as Error;
    return {
      result: 'not checked',
      detail: `${OSV} does not answer (${cause instanceof Error ? cause.message : message})`,
    };
  }
};

/** Searches all commits for secrets with gitleaks, which Go builds once for each version. */
const checkSecrets = (): SupplyChainResult => {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), `cadastre/gitleaks-${GITLEAKS}`);
  const gitleaks = join(folder, 'gitleaks');
  if (!existsSync(gitleaks)) {
    const go = runProgram('bash', ['test/support/install-go']);
    if (go.status !== 0) return { result: 'not checked', detail: go.output };
    const program = go.output.split('\n').at(-1) ?? '';
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'local' };
    const built = runProgram(program, ['install', `github.com/zricethezav/gitleaks/v8@${GITLEAKS}`], env);
    if (built.status !== 0) return { result: 'not checked', detail: `gitleaks cannot be built: ${built.output}` };
  }
  const { status, output } = runProgram(gitleaks, ['git', '--no-banner', '--no-color', '--redact', '--verbose', '.']);
  return { result: status === 0 ? 'passed' : 'FAILED', detail: output };
};

const CHECKS: Readonly<Record<string, () => SupplyChainResult | Promise<SupplyChainResult>>> = {
  signatures: checkSignatures,
  weaknesses: checkWeaknesses,
  secrets: checkSecrets,
};

const chosen = process.argv.slice(2);
for (const name of chosen.length === 0 ? Object.keys(CHECKS) : chosen) {
  const check = CHECKS[name];
  if (check === undefined) throw new Error(`must be ${Object.keys(CHECKS).join(', ')}, got "${name}"`);
  const { result, detail } = await check();
  process.stdout.write(`${result}: ${name}\n${detail.replaceAll(/^/gm, '  ')}\n`);
  if (result === 'FAILED') process.exitCode = 1;
}
