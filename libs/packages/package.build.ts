import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/* A step of `npm run build:consumer` and `npm run build:verifier`: it makes a package of what tsc has compiled. */

const ROOT = join(import.meta.dirname, '../..');

const [name, folder] = process.argv.slice(2);
if (name === undefined || folder === undefined)
  throw new Error('name the package and the folder of the compiled files');
const readJson = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
  JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, unknown>>;
const { version, license, engines } = await readJson(join(ROOT, 'package.json'));
const { name: fullName, description, ...rest } = await readJson(join(import.meta.dirname, name, 'manifest.json'));
const manifest = {
  name: fullName,
  version,
  description,
  license,
  engines,
  type: 'module',
  exports: { types: './index.d.ts', default: './index.js' },
  ...rest,
};
await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
await copyFile(join(import.meta.dirname, name, 'README.md'), join(folder, 'README.md'));
await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
