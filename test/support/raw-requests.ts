import http from 'node:http';
import { readText } from './read-text.js';

/** A request whose address and headers are sent as they are. */
export type RawRequest = {
  readonly method: string;
  /** Path and query, encoded. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined sends no body. */
  readonly body: string | Uint8Array | undefined;
};

export type RawReply = {
  readonly status: number;
  /** The header `content-type`. Empty if there is none. */
  readonly type: string;
  readonly text: string;
};

/** Sends a request with raw HTTP, because `fetch` corrects many mistakes. A null token is not sent. */
export const sendRaw = (
  origin: string,
  { method, url, headers, body }: RawRequest,
  token: string | null,
): Promise<RawReply> =>
  new Promise((resolve, reject) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? null);
    const sent = {
      ...headers,
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(bytes && { 'content-length': String(bytes.length) }),
    };
    const request = http.request(`${origin}/`, { method, path: url, headers: sent, agent: false }, (response) => {
      response.once('error', reject);
      readText(response, (text) =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      );
    });
    request.once('error', reject);
    request.end(bytes ?? undefined);
  });
