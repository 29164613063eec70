import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../support/folders.js';
import { runProgram } from './run-program.js';

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

let product: { readonly version: string; readonly dependencies: Readonly<Record<string, string>> };

beforeAll(async () => {
  product = JSON.parse(await read('package.json'));
});

/** Copies the installed packages as hard links, so that they can be pruned. */
const copyPackages = async (target: string): Promise<void> => {
  await mkdir(target, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(ROOT, file), join(target, file));
  const { code, stderr } = await runProgram('cp', ['-al', join(ROOT, 'node_modules'), join(target, 'node_modules')]);
  if (code !== 0) throw new Error(stderr);
  // npm writes this file in place, and would change that of the sources.
  const installed = 'node_modules/.package-lock.json';
  await rm(join(target, installed));
  await copyFile(join(ROOT, installed), join(target, installed));
};

describe('the image', () => {
  it('has labels with the version of the product, and a health check', async () => {
    const dockerfile = await read('deploy/Dockerfile');
    expect(dockerfile).toContain(`ARG VERSION=${product.version}\n`);
    for (const label of ['title', 'description', 'licenses', 'version', 'revision', 'created'])
      expect(dockerfile).toContain(`org.opencontainers.image.${label}=`);
    expect(dockerfile).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \["node", "deploy\/healthcheck\.mjs"\]$/m);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  });

  it('has an executor with the programs of the sandbox, which is not root', async () => {
    const executor = /^FROM product AS executor$([\s\S]*?)^FROM /m.exec(await read('deploy/Dockerfile'))?.[1] ?? '';
    for (const program of ['bubblewrap', 'util-linux', 'git', 'openssh-client', 'ca-certificates'])
      expect(executor).toContain(` ${program}`);
    expect(executor).toMatch(/^USER 1000:1000$/m);
    expect(executor).toContain('ENTRYPOINT ["node", "dist/apps/executor/src/main.js"]');
  });

  it('gets a list of all its npm packages', async () => {
    const build = join(ROOT, '.cache', `sbom-${process.pid}`, 'cadastre');
    const steps = [...(await read('deploy/Dockerfile')).matchAll(/^RUN (npm .*)$/gm)].map(([, step = '']) => step);
    try {
      await copyPackages(build);
      // The packages are there already, and `npm ci` would install them again.
      const script = steps.join(' && ').replace('npm ci && ', '');
      expect((await runProgram('sh', ['-ec', `cd '${build}' && ${script}`])).code).toBe(0);
      const { bomFormat, components, metadata } = JSON.parse(await readFile(join(build, 'sbom.cdx.json'), 'utf8'));
      const { name, version, type } = metadata.component;
      expect([bomFormat, name, version, type]).toEqual(['CycloneDX', 'cadastre', product.version, 'application']);
      const listed = components.map((component: { name: string }) => component.name);
      expect(Object.keys(product.dependencies).filter((dependency) => !listed.includes(dependency))).toEqual([]);
      expect(listed).not.toContain('jest');
    } finally {
      await rm(dirname(build), { recursive: true, force: true });
    }
  }, 120_000);
});
