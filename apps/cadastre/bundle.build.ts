import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';

/*
 * A step of the build. It bundles the compiled program with its packages, so that a start reads 600 files instead of
 * 2,500. The compiled files stay: other programs and threads run them, and the files beside them (SQL, pages) are found there.
 */

/** Packages of many small files. The others stay outside: some look for files beside themselves. */
const BUNDLED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/cqrs',
  '@nestjs/platform-fastify',
  'jose',
  'rxjs',
  'semver',
  'zod',
];

const isOutside = (specifier: string): boolean => {
  if (/^(?:[./#]|@oxc-project\/)/.test(specifier)) return false;
  return !BUNDLED.some((name) => specifier === name || specifier.startsWith(`${name}/`));
};

const MARK = /__MODULE_URL_(\d+)__/g;

/** Lets code in a bundle find the files beside the module that it was written in. */
const keepModuleUrls = (outFolder: string): Plugin => {
  const modules: string[] = [];
  return {
    name: 'keep-module-urls',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null;
      const mark = `__MODULE_URL_${modules.push(id) - 1}__`;
      return { code: code.replaceAll('import.meta.url', mark), map: null };
    },
    renderChunk(code, { fileName }) {
      const from = dirname(join(outFolder, fileName));
      const toUrl = (_: string, index: string) =>
        `new URL(${JSON.stringify(relative(from, modules[Number(index)] ?? ''))}, import.meta.url).href`;
      return { code: code.replace(MARK, toUrl), map: null };
    },
  };
};

/** Leads stack traces with `--enable-source-maps` to the sources instead of to what was compiled. */
const readSourceMaps: Plugin = {
  name: 'read-source-maps',
  load: {
    filter: { id: /\/dist\/(?:apps|libs)\/.*\.js$/ },
    async handler(id) {
      const [code, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
      return { code, map };
    },
  },
};

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder of the compiled files');
const outFolder = resolve(folder);
const bundle = await rolldown({
  // Not main.js: on an old Node it explains that before anything else is loaded.
  input: ['program', 'worker'].map((name) => join(outFolder, `apps/cadastre/src/${name}.js`)),
  platform: 'node',
  external: isOutside,
  // The input is JavaScript already. A tsconfig.json beside it belongs to the sources of a package.
  tsconfig: false,
  logLevel: 'warn',
  plugins: [readSourceMaps, keepModuleUrls(outFolder)],
});
const { output } = await bundle.write({
  dir: outFolder,
  format: 'esm',
  keepNames: true,
  sourcemap: true,
  // V8 keeps the text of the program in memory, with two bytes for each character unless all are ASCII.
  minify: {
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true, asciiOnly: true, legalComments: 'inline' },
  },
  entryFileNames: 'apps/cadastre/src/[name].js',
  chunkFileNames: 'bundle/[name]-[hash].js',
});
await bundle.close();

// The minifier escapes no characters of tagged templates, because their tag can read the raw text.
for (const file of output)
  if (file.type === 'chunk' && /[\u0080-\uffff]/.test(file.code))
    throw new Error(`${file.fileName} has characters that are not ASCII: write them as entities or escapes`);
