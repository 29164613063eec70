import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

/*
 * Writes the files of a release to a folder: node apps/cadastre/release.build.ts FOLDER [PART…]
 * Without parts it writes all of them. It leaves out the image if the machine cannot build one. Two runs on the same commit
 * write the same chart and list of components, so that anybody can check a release.
 */

const ROOT = join(import.meta.dirname, '../..');
const [target, ...chosen] = process.argv.slice(2);

const run = (program: string, args: readonly string[], cwd = ROOT): string =>
  execFileSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 1024 ** 3, stdio: ['ignore', 'pipe', 'inherit'] });

const fail = (message: string): never => {
  process.stderr.write(`release: ${message}\n`);
  process.exit(1);
};

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
const { version } = manifest;
/**
 * The time of the commit in seconds since 1970. All files get this time.
 *
 * @see https://reproducible-builds.org/specs/source-date-epoch
 */
const epoch = process.env['SOURCE_DATE_EPOCH'] ?? run('git', ['log', '-1', '--format=%ct']).trim();

/** Packs the product or one of its packages. npm sorts the files and gives them all the same time. */
const pack = (source: string, folder: string): void => {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], source);
};

const packPart = (name: string) => (folder: string) => {
  run('npm', ['run', '--silent', `build:${name}`]);
  pack(join(ROOT, `${name}-package`), folder);
};

/** Packs the chart with tar, because helm gives the files the time of the checkout. */
const packChart = (folder: string): void => {
  const sorted = [
    '--sort=name',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
  ];
  const archive = execFileSync('tar', [...sorted, '--format=ustar', '--create', 'cadastre'], {
    cwd: join(ROOT, 'deploy/helm'),
    maxBuffer: 1024 ** 3,
  });
  writeFileSync(join(folder, `cadastre-chart-${version}.tgz`), gzipSync(archive, { level: 9 }));
};

/** Writes the list of npm packages in the image. Replaces its random number and its time, so that it is reproducible. */
const listComponents = (folder: string): void => {
  const copy = mkdtempSync(join(tmpdir(), 'cadastre-release-'));
  // npm takes the name of the product in the list from the folder.
  const product = join(copy, 'cadastre');
  mkdirSync(product);
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(ROOT, file), join(product, file));
  run('npm', ['pkg', 'delete', 'devDependencies'], product);
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--silent'], product);
  const format = ['--sbom-type=application', '--sbom-format=cyclonedx', '--package-lock-only'];
  const list = JSON.parse(run('npm', ['sbom', ...format], product)) as {
    serialNumber?: string;
    readonly metadata: { timestamp: string };
  };
  rmSync(copy, { recursive: true });
  delete list.serialNumber;
  list.metadata.timestamp = new Date(Number(epoch) * 1_000).toISOString();
  writeFileSync(join(folder, `cadastre-${version}.cdx.json`), `${JSON.stringify(list, null, 2)}\n`);
};

/** Returns the program that can build an image, or null. */
const findImageBuilder = (): string | null =>
  [
    ['docker', 'buildx', 'inspect'],
    ['buildah', 'version'],
  ].find(([program = '', ...args]) => spawnSync(program, args, { timeout: 30_000 }).status === 0)?.[0] ?? null;

const buildImage = (folder: string, builder: string): void => {
  const created = new Date(Number(epoch) * 1_000).toISOString();
  const labels = { VERSION: version, REVISION: run('git', ['rev-parse', 'HEAD']).trim(), CREATED: created };
  const shared = [
    '--file',
    'deploy/Dockerfile',
    ...Object.entries(labels).flatMap((pair) => ['--build-arg', pair.join('=')]),
  ];
  const archive = join(folder, `cadastre-image-${version}.tar`);
  if (builder === 'docker') {
    const time = ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`];
    run('docker', [
      'buildx',
      'build',
      ...shared,
      ...time,
      '--output',
      `type=oci,dest=${archive},rewrite-timestamp=true`,
      '.',
    ]);
    return;
  }
  run('buildah', ['build', '--timestamp', epoch, ...shared, '--tag', `cadastre:${version}`, '.']);
  run('buildah', ['push', `cadastre:${version}`, `oci-archive:${archive}`]);
};

const PARTS: Readonly<Record<string, (folder: string) => void>> = {
  package: (folder) => pack(ROOT, folder),
  consumer: packPart('consumer'),
  verifier: packPart('verifier'),
  chart: packChart,
  sbom: listComponents,
};

const parts = chosen.length === 0 ? [...Object.keys(PARTS), 'image'] : chosen;
const unknown = parts.find((part) => part !== 'image' && !(part in PARTS));
if (target === undefined || unknown !== undefined)
  fail(
    `usage: release.build.ts FOLDER [${[...Object.keys(PARTS), 'image'].join('|')}]…, got ${unknown ?? 'no folder'}`,
  );
if (!readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}\n`))
  fail(`CHANGELOG.md has no section ${version}: move the lines of Unreleased there`);

const folder = resolve(target as string);
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) fail(`${folder} must be empty`);
const builder = parts.includes('image') ? findImageBuilder() : null;
if (chosen.includes('image') && builder === null)
  fail('image: cannot be built; install docker with buildx, or buildah');

for (const part of parts) PARTS[part]?.(folder);
if (builder !== null) buildImage(folder, builder);
const sums = readdirSync(folder)
  .toSorted()
  .map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex')}  ${file}\n`,
  );
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));

process.stdout.write(`${sums.join('')}\nThe files are in ${folder}.\n`);
if (parts.includes('image') && builder === null)
  process.stdout.write(
    'No image was written. To build it, run this command where docker with buildx, or buildah, is installed.\n',
  );
if (run('git', ['status', '--porcelain']) !== '')
  process.stdout.write('Do not publish these files: the working tree has changes that are not committed.\n');
process.stdout.write(
  `To release this commit: git tag --annotate v${version} --message "Cadastre ${version}" && git push origin v${version}\n`,
);
