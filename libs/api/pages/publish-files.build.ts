import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/* A step of builds. It writes files that `PublishedFiles` serves. */

const gzipContent = promisify(gzip);
const brotliContent = promisify(brotliCompress);

/** A file to publish. `policy`: its Content-Security-Policy, if it needs more than other responses. */
export type FileToPublish = {
  readonly content: string | Uint8Array;
  readonly mediaType: string;
  readonly policy?: string;
};

type CompressionOptions = {
  /** Whether to compress with Brotli too. It is smaller, and takes a second for a megabyte. */
  readonly withBrotli?: boolean;
};

/** Writes the files to the folder, compressed, and `files.json`, the list of them. */
export const publishFiles = async (
  folder: string,
  files: ReadonlyMap<string, FileToPublish>,
  { withBrotli = false }: CompressionOptions = {},
): Promise<void> => {
  const publish = async ([name, file]: readonly [string, FileToPublish]) =>
    [name, await publishFile(join(folder, name), file, withBrotli)] as const;
  const list = Object.fromEntries(await Promise.all([...files].map(publish)));
  await writeFile(join(folder, 'files.json'), JSON.stringify(list));
};

const publishFile = async (path: string, { content, mediaType, policy }: FileToPublish, withBrotli: boolean) => {
  await mkdir(dirname(path), { recursive: true });
  const zipped = await gzipContent(content, { level: 9 });
  await writeFile(`${path}.gz`, zipped);
  const etag = `W/"${createHash('sha256').update(content).digest('base64url')}"`;
  const rest = { mediaType, etag, ...(policy === undefined ? {} : { policy }) };
  if (!withBrotli) return { ...rest, sizes: { gzip: zipped.length } };
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const smaller = await brotliContent(content, { params });
  await writeFile(`${path}.br`, smaller);
  return { ...rest, sizes: { gzip: zipped.length, br: smaller.length } };
};
