import { parseRangeHeader, type ByteRange } from '#blob-store';

/** What a request says of the answer that it wants (RFC 9110 §13, §14). */
export type DownloadRequest = {
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-range'?: string | string[] | undefined;
  readonly range?: string | undefined;
};

/** What of a file is sent, under which status, with which headers. */
export type DownloadResponse = {
  readonly status: 200 | 206 | 304 | 416;
  /** Null where nothing is sent at all. */
  readonly content: { readonly length: number; readonly range?: Required<ByteRange> } | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** Whether a tag is among those that somebody has already; a mark of weakness means nothing here (RFC 9110 §13.1.2). */
export const matchesEtag = (tags: string | undefined, tag: string): boolean =>
  (tags ?? '').split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));

/** A file never changes under its address, and is known by its SHA-256: so tags are all that is compared. */
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
