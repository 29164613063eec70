import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';

/** The content of a file that the build has compressed. `json` is its value if it is JSON. */
export type PublishedContent = { readonly text: string; readonly json: unknown };

const contents = new Map<string, PublishedContent>();

const decompress = (bytes: Buffer, isJson: boolean): PublishedContent => {
  const text = brotliDecompressSync(bytes).toString();
  return { text, json: isJson ? (JSON.parse(text) as unknown) : null };
};

/** Whether the server has sent the compressed file of the build. */
export const isPublished = ({ headers }: IncomingMessage): boolean => headers['content-encoding'] === 'br';

/**
 * Reads a published file. Equal bytes are decompressed once in a process: the matrix requests the largest files as every
 * caller, and each time would take 0.1 s.
 */
export const readPublished = async (response: IncomingMessage): Promise<PublishedContent> => {
  const bytes = await buffer(response);
  const isJson = (response.headers['content-type'] ?? '').includes('json');
  const key = `${isJson} ${createHash('sha256').update(bytes).digest('hex')}`;
  const content = contents.get(key) ?? decompress(bytes, isJson);
  contents.set(key, content);
  return content;
};
