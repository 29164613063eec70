import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/* The last step of `npm run build:verifier`: it makes a package of what tsc has compiled. */

const ROOT = join(import.meta.dirname, '../../..');

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder of the compiled files');
const { version, license, engines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
};
const manifest = {
  name: '@cadastre/trail-verifier',
  version,
  description: 'Verifies audit trails of Cadastre without a server',
  license,
  engines,
  type: 'module',
  exports: { types: './index.d.ts', default: './index.js' },
  bin: { 'cadastre-verify': './main.js' },
};
await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
await copyFile(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
