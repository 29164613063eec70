import { createReadStream } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { HttpResponse } from './transport.js';

export type FileUpload = {
  readonly path: string;
  readonly size: number;
  /** Called with the number of bytes that have been sent. */
  readonly sent: (bytes: number) => void;
};

const IDLE_TIMEOUT_MS = 300_000;

/**
 * Sends a file while reading it, so that memory stays flat for any size. `fetch` would read the body at full speed,
 * however slow the upload is.
 */
export const uploadFile = (url: URL, { path, size, sent }: FileUpload, signal: AbortSignal): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': size };
    const { request } = url.protocol === 'https:' ? https : http;
    const put = request(url, { method: 'PUT', headers, signal, timeout: IDLE_TIMEOUT_MS });
    let isAnswered = false;
    put.once('response', (response) => {
      isAnswered = true;
      const { statusCode: status = 0, headers: responseHeaders } = response;
      const answer = (bytes: Buffer): HttpResponse => ({
        status,
        retryAfter: responseHeaders['retry-after'] ?? null,
        bytes,
      });
      buffer(response).then((bytes) => resolve(answer(bytes)), reject);
    });
    put.once('timeout', () => put.destroy(new Error('no data was sent or received for five minutes')));
    const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      let total = 0;
      sent(total);
      for await (const piece of pieces) {
        yield piece;
        total += piece.length;
        sent(total);
      }
    };
    const fail = (error: unknown): void => {
      // A server that has refused the upload closes the connection without reading the rest.
      if (!isAnswered) reject(error);
    };
    pipeline(createReadStream(path), counted, put).catch(fail);
    // The pipeline ends when everything is sent, before the response arrives.
    put.on('error', fail);
  });
