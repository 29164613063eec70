import { parseRangeHeader, type ByteRange } from '#storage/blob-store';
import { matchesEtag } from '#api/json-api';

/** Headers of a request that select the response (RFC 9110 §13, §14). */
type DownloadRequest = {
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-range'?: string | string[] | undefined;
  readonly range?: string | undefined;
};

/** Status, headers and range of the file to send. */
type DownloadResponse = {
  readonly status: 200 | 206 | 304 | 416;
  /** Null if the response has no content. */
  readonly content: { readonly length: number; readonly range?: Required<ByteRange> } | null;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Chooses the response by comparing ETags only: the content of an address never changes and its SHA-256 identifies it.
 */
export const buildDownloadResponse = (
  wish: DownloadRequest,
  { sha256, size }: { readonly sha256: string; readonly size: number },
): DownloadResponse => {
  const tag = `"${sha256}"`;
  const headers = { etag: tag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' };
  if (matchesEtag(wish['if-none-match'], tag)) return { status: 304, content: null, headers };
  const isSame = wish['if-range'] === undefined || wish['if-range'] === tag;
  const range = isSame ? parseRangeHeader(wish.range, size) : null;
  if (range === null) return { status: 200, content: { length: size }, headers };
  if (range === 'unsatisfiable') {
    return { status: 416, content: null, headers: { ...headers, 'content-range': `bytes */${size}` } };
  }
  const { start, end } = range;
  const contentRange = `bytes ${start}-${end}/${size}`;
  return {
    status: 206,
    content: { length: end - start + 1, range },
    headers: { ...headers, 'content-range': contentRange },
  };
};
