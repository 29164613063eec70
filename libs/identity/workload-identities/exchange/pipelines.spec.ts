import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { ROOT } from '../../../../test/support/folders.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { expectStatus, makeOrganization, makeTeam } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { makeWorkloadIdentity } from '../../../../test/support/workload-identities.js';

// Runs the scripts of docs/how-to/run-in-ci-without-secrets.md as a job of the CI system would: with its variables, and
// against a real issuer.

type JobResult = { readonly code: number | null; readonly output: string };

let provider: TestIdentityProvider;
let server: TestServer;
let folder: string;
let team: string;
let page: string;

beforeAll(async () => {
  provider = await startIdentityProvider();
  // Pipelines use the public URL as the address and as the audience.
  server = await startTestServer({ forBrowsers: true, env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: 'localhost' } });
  await makeOrganization(server, 'acme');
  team = await makeTeam(server, 'acme', 'pipelines');
  folder = await mkdtemp(join(tmpdir(), 'cadastre-job-'));
  page = await readFile(join(ROOT, 'docs/how-to/run-in-ci-without-secrets.md'), 'utf8');
});

afterAll(async () => {
  await server.close();
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the first script that follows a line of the page, without its indentation. */
const findScript = (line: string): string => {
  const rest = page.slice(page.indexOf(line) + line.length);
  const [block = ''] = /^(?: +.*\n)+/.exec(rest.slice(1)) ?? [];
  const indentation = /^ +/.exec(block)?.[0] ?? '';
  const lines = block.split('\n');
  const end = lines.findIndex((one) => !one.startsWith(indentation));
  return lines
    .slice(0, end)
    .map((one) => one.slice(indentation.length))
    .join('\n');
};

const runJob = async (script: string, environment: Readonly<Record<string, string>>): Promise<JobResult> => {
  const env = { PATH: process.env['PATH'] ?? '', CADASTRE: server.url, ...environment };
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  );
  return { code, output };
};

const sign = (claims: JWTPayload): Promise<string> => provider.signToken({ aud: server.url, ...claims });

const getTeamOf = async (token: string): Promise<string> =>
  expectStatus(await server.as(token).get('/api/v2/account/details'), 200).body.data.id as string;

describe('the job of the documentation', () => {
  it('gets a token of the team in GitHub Actions', async () => {
    const claims = { repository: ['acme/app'], ref: ['refs/heads/main'] };
    const identity = await makeWorkloadIdentity(server, team, 'github', { issuer: provider.issuer, claims });
    const job = { sub: 'repo:acme/app:ref:refs/heads/main', repository: 'acme/app', ref: 'refs/heads/main' };
    const runner = await startRunner((aud) => provider.signToken({ ...job, aud }));
    const result = await runJob(findScript('        run: |'), {
      IDENTITY: identity,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${runner.url}/token?api-version=2.0`,
      GITHUB_ENV: join(folder, 'github-env'),
    });
    await runner.close();
    const [, token = ''] = (await readFile(join(folder, 'github-env'), 'utf8')).trim().split('=');
    expect(result).toEqual({ code: 0, output: `::add-mask::${token}\n` });
    expect(await getTeamOf(token)).toBe(team);
  });

  it('gets a token of the team in GitLab CI, and says why another branch gets none', async () => {
    const claims = { project_path: ['acme/app'], ref: ['main'], ref_protected: ['true'] };
    const identity = await makeWorkloadIdentity(server, team, 'gitlab', { issuer: provider.issuer, claims });
    const script = findScript('  script:\n    - |');
    const job = {
      sub: 'project_path:acme/app:ref_type:branch:ref:main',
      project_path: 'acme/app',
      ref_protected: 'true',
    };
    const tokenFile = join(folder, 'token');
    const done = await runJob(`${script}\necho "$TF_TOKEN_cadastre_example_com" > "${tokenFile}"`, {
      IDENTITY: identity,
      ID_TOKEN: await sign({ ...job, ref: 'main' }),
    });
    expect(done).toEqual({ code: 0, output: '' });
    expect(await getTeamOf((await readFile(tokenFile, 'utf8')).trim())).toBe(team);
    const refused = await runJob(script, { IDENTITY: identity, ID_TOKEN: await sign({ ...job, ref: 'dev' }) });
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("subject_token: the workload identity does not accept ref 'dev'");
  });
});

/** Starts the service that gives jobs of GitHub Actions their tokens, which a runner has. */
const startRunner = async (
  createToken: (audience: string) => Promise<string>,
): Promise<{ readonly url: string; close(): Promise<unknown> }> => {
  const runner: Server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://runner');
    const isJob = request.headers.authorization === 'Bearer of-the-job';
    void createToken(searchParams.get('audience') ?? '').then((value) =>
      response.writeHead(isJob ? 200 : 401).end(JSON.stringify({ value, count: value.length })),
    );
  });
  await new Promise<void>((resolve) => runner.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(runner.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => runner.close(resolve)),
  };
};
