import { readFile, readdir, rm } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { build } from 'vite';
import { publishFiles, type FileToPublish } from '#api/pages/build';
import config from './vite.config.ts';

/* A step of the build. It writes the page of the console and its files to a folder, from which libs/api/console serves them. */

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const readAsset = async (folder: string, name: string): Promise<readonly [string, FileToPublish]> => {
  const mediaType = MEDIA_TYPES[extname(name)];
  if (mediaType === undefined) throw new Error(`console.build.ts has no media type for ${name}`);
  return [`assets/${name}`, { content: await readFile(join(folder, 'assets', name)), mediaType }];
};

// Otherwise Vite takes React's build for development when the tests run this step.
process.env['NODE_ENV'] = 'production';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder to write to');
const outDir = resolve(folder);
await build({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir } });
const names = await readdir(join(outDir, 'assets'));
const files = new Map(await Promise.all(names.map((name) => readAsset(outDir, name))));
await publishFiles(outDir, files, { withBrotli: true });
await Promise.all(names.map((name) => rm(join(outDir, 'assets', name))));
