import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/* The last step of `npm run build:consumer`: it makes a package of what tsc has compiled. */

const ROOT = join(import.meta.dirname, '../../..');

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder of the compiled files');
const { version, license, engines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
};
const manifest = {
  name: '@cadastre/consumer',
  version,
  description: 'Handles the events of Cadastre exactly once in Postgres',
  license,
  engines,
  type: 'module',
  exports: { types: './index.d.ts', default: './index.js' },
  // The patch changes a private class of kafkajs.
  peerDependencies: { kafkajs: '~2.2.4', pg: '^8.11.0' },
};
await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
// The server patches kafkajs when it creates a client. The users of the package create clients themselves.
const entry = `import { patchRequestQueue } from './storage/message-log/connection/request-queue.patch.js';
patchRequestQueue();
export * from './packages/consumer/index.js';
`;
await writeFile(join(folder, 'index.js'), entry);
await writeFile(join(folder, 'index.d.ts'), "export * from './packages/consumer/index.js';\n");
await copyFile(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
