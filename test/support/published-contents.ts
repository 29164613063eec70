import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';

/** The content of a compressed response. `json` is its value if it is JSON. */
export type PublishedContent = { readonly text: string; readonly json: unknown };

/** Smaller answers are documents of the API, which differ. */
const MIN_KEPT_BYTES = 20_000;

const contents = new Map<string, PublishedContent>();

const decompress = (bytes: Buffer, isJson: boolean): PublishedContent => {
  const text = brotliDecompressSync(bytes).toString();
  return { text, json: isJson ? (JSON.parse(text) as unknown) : null };
};

/** Whether the server has compressed the response. */
export const isPublished = ({ headers }: IncomingMessage): boolean => headers['content-encoding'] === 'br';

/**
 * Reads a compressed response. Equal bytes of a published file are decompressed once in a process: the matrix requests the
 * largest files as every caller, and each time would take 0.1 s.
 */
export const readPublished = async (response: IncomingMessage): Promise<PublishedContent> => {
  const bytes = await buffer(response);
  const isJson = (response.headers['content-type'] ?? '').includes('json');
  const key = `${isJson} ${createHash('sha256').update(bytes).digest('hex')}`;
  const content = contents.get(key) ?? decompress(bytes, isJson);
  if (bytes.length >= MIN_KEPT_BYTES) contents.set(key, content);
  return content;
};
