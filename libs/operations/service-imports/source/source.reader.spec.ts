import { describe, expect, it } from '@jest/globals';
import { OutboundError, type OutboundFetch, type OutboundRequest } from '#platform/outbound';
import type { ForeignResource } from './source-documents.js';
import { SourceReader } from './source.reader.js';

type Sent = { readonly by: string; readonly url: string; readonly token: string | null };

const ADDRESS = 'https://source.example.com';

const pageOf = (ids: readonly unknown[], next: number | null): Response =>
  Response.json({ data: ids.map((id) => ({ id, type: 'vars' })), meta: { pagination: { 'next-page': next } } });

const redirectTo = (location: string): Response => new Response(null, { status: 302, headers: { location } });

/** A reader whose requests get these answers, one after the other; the last one again and again. */
const readerOf = (...answers: readonly (() => Response)[]) => {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  let now = 0;
  const fetchBy =
    (by: string): OutboundFetch =>
    (url: string | URL, { headers = {} }: OutboundRequest = {}) => {
      sent.push({ by, url: String(url), token: new Headers(headers).get('authorization') });
      return Promise.resolve().then(() => (answers[sent.length - 1] ?? answers.at(-1))?.() ?? Response.error());
    };
  const reader = new SourceReader({
    address: new URL(ADDRESS),
    token: 'secret',
    requestsPerSecond: 10,
    documents: fetchBy('documents'),
    files: fetchBy('files'),
    foreignFiles: fetchBy('foreign'),
    now: () => now,
    pause: (ms) => {
      pauses.push(ms);
      now += ms;
      return Promise.resolve();
    },
  });
  return { reader, sent, pauses };
};

const collect = async (list: AsyncIterable<ForeignResource>): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
};

describe('the reader of a source', () => {
  it('reads all pages, and sends the token', async () => {
    const { reader, sent } = readerOf(
      () => pageOf(['var-1'], 2),
      () => pageOf(['var-2'], null),
    );
    expect(await collect(reader.list('/api/v2/vars'))).toEqual(['var-1', 'var-2']);
    expect(sent.map(({ url, token }) => [new URL(url).searchParams.get('page[number]'), token])).toEqual([
      ['1', 'Bearer secret'],
      ['2', 'Bearer secret'],
    ]);
  });

  it('ends if the pages of the source are a circle', async () => {
    const { reader } = readerOf(() => pageOf(['var-1'], 1));
    await expect(collect(reader.list('/api/v2/vars'))).rejects.toThrow('/api/v2/vars has more than 10000 pages');
  });

  it.each(['../../other', 'a/b', '', 'ws-1?x', '%2e%2e', 7, null])(
    'leaves out a resource with the id %j, and counts it',
    async (id) => {
      const { reader } = readerOf(() => pageOf([id, 'var-1'], null));
      expect(await collect(reader.list('/api/v2/vars'))).toEqual(['var-1']);
      expect(reader.malformed).toBe(1);
    },
  );

  it('never sends the token to another server, and reads no documents there', async () => {
    const file = readerOf(
      () => redirectTo('https://files.example.net/x'),
      () => new Response('{}'),
    );
    await file.reader.download('/state');
    expect(file.sent).toEqual([
      { by: 'files', url: `${ADDRESS}/state`, token: 'Bearer secret' },
      { by: 'foreign', url: 'https://files.example.net/x', token: null },
    ]);
    const document = readerOf(() => redirectTo('https://files.example.net/x'));
    await expect(document.reader.find('/api/v2/organizations/acme')).rejects.toThrow('redirected a request to');
    expect(document.sent).toHaveLength(1);
  });

  it('refuses files without TLS, and redirects without an end', async () => {
    await expect(readerOf().reader.download('http://files.example.net/x')).rejects.toThrow('an address without TLS');
    const { reader, sent } = readerOf(() => redirectTo('/state'));
    await expect(reader.download('/state')).rejects.toThrow('redirected more than 5 times');
    expect(sent).toHaveLength(6);
  });

  it('repeats after 429, errors of the server and lost connections, and keeps to the rate', async () => {
    const { reader, sent, pauses } = readerOf(
      () => new Response(null, { status: 429, headers: { 'retry-after': '7' } }),
      () => new Response(null, { status: 502 }),
      () => {
        throw new OutboundError('source.example.com', 'unreachable');
      },
      () => pageOf([], null),
    );
    expect(await collect(reader.list('/api/v2/vars'))).toEqual([]);
    expect([sent.length, pauses]).toEqual([4, [7_000, 1_000, 2_000]]);
    await reader.list('/api/v2/vars').next();
    expect(pauses.at(-1)).toBe(100);
  });

  it('gives up after eight attempts, and at once if the token is refused', async () => {
    const { reader, sent } = readerOf(() => new Response(null, { status: 503 }));
    await expect(reader.find('/api/v2/x')).rejects.toThrow('source.example.com answered 503, 8 times');
    expect(sent).toHaveLength(8);
    const refused = readerOf(() => new Response(null, { status: 401 }));
    await expect(refused.reader.find('/api/v2/x')).rejects.toThrow('the source refused the token');
  });
});
