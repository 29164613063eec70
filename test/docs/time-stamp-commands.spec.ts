import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BUILD, ROOT } from '../support/folders.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { requirePrograms } from '../support/programs.js';
import { makeOrganization, makeOrganizationToken } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { startTimeStampAuthority, type TestTimeStampAuthority } from '../support/time-stamp-authority.js';

// The commands of the page that need a site with a time stamp authority, which the server of commands.spec.ts does not have.

const run = promisify(execFile);
const LONG = 600_000;
const LOG = '/api/v2/organizations/acme/audit-trail-log';

let authority: TestTimeStampAuthority;
let product: Product;
let audit: string;
let token: string;

const read = async (path: string): Promise<string> => {
  const response = await fetch(`${product.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  return response.status === 200 ? text : '';
};

beforeAll(async () => {
  requirePrograms('curl', 'jq', 'openssl');
  authority = await startTimeStampAuthority();
  product = await launchProduct({
    CADASTRE_TIME_STAMP_URL: authority.url,
    CADASTRE_TIME_STAMP_CA: authority.caFile,
  });
  await product.start();
  const api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  token = await makeOrganizationToken(api, 'acme');
  await waitUntil(async () => (await read('/audit-trail-log/checkpoint')) !== '', 'the log of the site is signed');
  // The job that stamps runs once a minute, and after a start.
  await product.stop();
  await product.start();
  const hasStamp = async () => (await read('/audit-trail-log/time-stamps')).includes('stamped-at');
  await waitUntil(hasStamp, 'the log of the site is stamped', LONG);
  audit = await mkdtemp(join(tmpdir(), 'cadastre-audit-'));
  await copyFile(authority.caFile, join(audit, 'authority.pem'));
  await writeFile(join(audit, 'acme.keys'), await read(`${LOG}/keys`));
}, LONG);

afterAll(async () => {
  await product?.remove();
  await authority?.close();
  await rm(audit, { recursive: true, force: true });
});

it(
  'verify a time stamp, what it covers, and later ones, as the page on verifying an audit trail shows',
  async () => {
    const page = await readFile(join(ROOT, 'docs/how-to/verify-the-audit-trail.md'), 'utf8');
    const blocks = [...page.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block]) => block as string);
    expect(blocks).toHaveLength(4);
    const script = [
      'set -e -o pipefail',
      `cadastre() { "${process.execPath}" "${join(BUILD, 'dist/apps/cadastre/src/main.js')}" "$@"; }`,
      ...blocks,
    ].join('\n');
    const env = {
      PATH: process.env['PATH'],
      SERVER: product.url,
      CA: authority.caFile,
      TOKEN: token,
      LOG: `${product.url}${LOG}`,
      AUDIT: audit,
    };
    const { stdout } = await run('bash', ['-c', script], { env, cwd: BUILD });
    expect(stdout).toMatch(/^Time stamp: /m);
    expect(stdout).toMatch(/^extends: +the checkpoint of \d+ entries that was given$/m);
    expect(stdout).toMatch(/^site: +has the first \d+ entries, and is$/m);
    expect(stdout).toMatch(/the first that is kept/);
  },
  LONG,
);
