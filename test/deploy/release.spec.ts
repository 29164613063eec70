import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { findPreviousVersion } from '../support/previous-release.js';
import { runProgram } from './run-program.js';

let folder: string;
let version: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-release-'));
  ({ version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const release = (name: string, ...parts: readonly string[]) =>
  runProgram(process.execPath, ['apps/cadastre/release.build.ts', join(folder, name), ...parts]);

describe('npm run release', () => {
  it('writes the same bytes again for chart and list of packages, and says how to tag the commit', async () => {
    const [first, second] = [await release('first', 'chart', 'sbom'), await release('second', 'chart', 'sbom')];
    expect([first.code, second.code]).toEqual([0, 0]);
    const files = [`cadastre-${version}.cdx.json`, `cadastre-chart-${version}.tgz`];
    expect((await readdir(join(folder, 'first'))).toSorted()).toEqual(['SHA256SUMS', ...files]);
    for (const file of ['SHA256SUMS', ...files])
      expect(await readFile(join(folder, 'second', file))).toEqual(await readFile(join(folder, 'first', file)));
    expect(first.stdout).toContain(`git tag --annotate v${version}`);
  });

  it('packs the chart as Helm does, and lists packages with their versions', async () => {
    await release('content', 'chart', 'sbom');
    const chart = await runProgram('tar', ['-tzf', join(folder, 'content', `cadastre-chart-${version}.tgz`)]);
    expect(chart.stdout.split('\n')).toEqual(expect.arrayContaining(['cadastre/Chart.yaml', 'cadastre/values.yaml']));
    const list = JSON.parse(await readFile(join(folder, 'content', `cadastre-${version}.cdx.json`), 'utf8'));
    const purls = list.components.map(({ purl }: { purl: string }) => purl);
    expect(purls).toContain('pkg:npm/kafkajs@2.2.4');
    expect(purls.join('\n')).not.toContain('pkg:npm/jest@');
  });

  it('fails if the image is requested and the machine cannot build it', async () => {
    const env = { PATH: `${dirname(process.execPath)}:/nowhere`, SOURCE_DATE_EPOCH: '0' };
    const built = promisify(execFile)(
      process.execPath,
      ['apps/cadastre/release.build.ts', join(folder, 'image'), 'image'],
      { cwd: ROOT, env },
    );
    await expect(built).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('image: cannot be built') });
  });

  it('refuses a part that it does not know', async () => {
    expect(await release('unknown', 'windows')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'usage: release.build.ts FOLDER [package|consumer|verifier|chart|sbom|image]…, got windows',
      ),
    });
  });
});

describe('the previous release, from which the tests upgrade', () => {
  const releases = '## 0.3.0\n\n### Added\n\n- b\n\n## 0.2.0\n\n- a\n';

  it.each([
    [
      'the latest one if the changelog lists changes since then',
      `## Unreleased\n\n### Added\n\n- c\n\n${releases}`,
      '0.3.0',
    ],
    ['the one before if nothing has changed since the latest', `## Unreleased\n\n${releases}`, '0.2.0'],
    ['the one before if the changelog has no section for changes', releases, '0.2.0'],
  ])('is %s', (_, changelog, version) => {
    expect(findPreviousVersion(`# Changelog\n\n${changelog}`)).toBe(version);
  });
});
