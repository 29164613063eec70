import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

/*
 * A step of the build. It writes the files that ApiDocsController serves: the documents of docs/reference, the page of
 * Scalar, and the list of them. The library of the page takes 10 MB of memory, so it runs here and not in the server.
 */

const REFERENCE = fileURLToPath(new URL('../../docs/reference/', import.meta.url));
const PAGE = '/api/docs';

const compress = promisify(gzip);
const digest = (content: string, encoding: 'base64' | 'base64url') =>
  createHash('sha256').update(content).digest(encoding);

/** Lets the page run its script and send requests to this server, and load nothing from other hosts. */
const buildPagePolicy = (page: string): string => {
  const inline = [...page.matchAll(/<script type="text\/javascript">(.*?)<\/script>/gs)].map(
    ([, script = '']) => script,
  );
  if (inline.length !== 1) throw new Error('the page of Scalar has another form than publish-files.build.ts expects');
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.map((script) => `'sha256-${digest(script, 'base64')}'`).join(' ')}`,
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

type ReferenceFile = { readonly content: string; readonly mediaType: string; readonly policy?: string };

const readReference = async (name: string): Promise<ReferenceFile> => ({
  content: await readFile(join(REFERENCE, name), 'utf8'),
  mediaType: 'application/json',
});

const collectFiles = async (): Promise<ReadonlyMap<string, ReferenceFile>> => {
  const { page, script } = await renderPage();
  const files = new Map<string, ReferenceFile>([
    ['index.html', { content: page, mediaType: 'text/html; charset=utf-8', policy: buildPagePolicy(page) }],
    ['scalar.js', { content: script, mediaType: 'text/javascript; charset=utf-8' }],
  ]);
  const schemas = (await readdir(join(REFERENCE, 'schemas'))).map((name) => `schemas/${name}`);
  for (const name of ['openapi.json', 'asyncapi.json', ...schemas]) files.set(name, await readReference(name));
  return files;
};

/** Writes the files to the folder, compressed, and `files.json`, the list of them (`PublishedFiles`). */
const publishFiles = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'schemas'), { recursive: true });
  const list: Record<string, object> = {};
  for (const [name, { content, mediaType, policy }] of await collectFiles()) {
    const bytes = await compress(content, { level: 9 });
    await writeFile(join(folder, `${name}.gz`), bytes);
    list[name] = {
      mediaType,
      size: bytes.length,
      etag: `W/"${digest(content, 'base64url')}"`,
      ...(policy && { policy }),
    };
  }
  await writeFile(join(folder, 'files.json'), JSON.stringify(list));
};

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder to write to');
await publishFiles(folder);
