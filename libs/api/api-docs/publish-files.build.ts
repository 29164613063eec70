import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';
import { publishFiles, type FileToPublish } from '#api/pages/build';

/*
 * A step of the build. It writes the files that ApiDocsController serves: the documents of docs/reference, the page of
 * Scalar. The library of the page takes 10 MB of memory, so it runs here and not in the server.
 */

const REFERENCE = fileURLToPath(new URL('../../../docs/reference/', import.meta.url));
const PAGE = '/api/docs';

const digest = (content: string) => createHash('sha256').update(content).digest('base64');

/** Lets the page run its script and send requests to this server, and load nothing from other hosts. */
const buildPagePolicy = (page: string): string => {
  const inline = [...page.matchAll(/<script type="text\/javascript">(.*?)<\/script>/gs)].map(
    ([, script = '']) => script,
  );
  if (inline.length !== 1) throw new Error('the page of Scalar has another form than publish-files.build.ts expects');
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.map((script) => `'sha256-${digest(script)}'`).join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';');
};

/** Returns the page and its script. */
const renderPage = async (): Promise<{ readonly page: string; readonly script: string }> => {
  const server = fastify();
  await server.register(scalar, {
    routePrefix: PAGE,
    configuration: {
      url: '/api/openapi.json',
      pageTitle: 'Cadastre API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
    },
  });
  const [page, script] = [await server.inject(`${PAGE}/`), await server.inject(`${PAGE}/js/scalar.js`)];
  await server.close();
  const linked = page.body.replace('src="js/scalar.js"', `src="${PAGE}/scalar.js"`);
  if (linked === page.body) throw new Error('the page of Scalar has another form than publish-files.build.ts expects');
  return { page: linked, script: script.body };
};

const readReference = async (name: string): Promise<FileToPublish> => ({
  content: await readFile(join(REFERENCE, name), 'utf8'),
  mediaType: 'application/json',
});

const collectFiles = async (): Promise<ReadonlyMap<string, FileToPublish>> => {
  const { page, script } = await renderPage();
  const files = new Map<string, FileToPublish>([
    ['index.html', { content: page, mediaType: 'text/html; charset=utf-8', policy: buildPagePolicy(page) }],
    ['scalar.js', { content: script, mediaType: 'text/javascript; charset=utf-8' }],
  ]);
  const schemas = (await readdir(join(REFERENCE, 'schemas'))).map((name) => `schemas/${name}`);
  for (const name of ['openapi.json', 'asyncapi.json', ...schemas]) files.set(name, await readReference(name));
  return files;
};

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder to write to');
await rm(folder, { recursive: true, force: true });
await publishFiles(folder, await collectFiles());
