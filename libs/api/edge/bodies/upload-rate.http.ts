import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '#platform/kernel';
import { refuseConnection } from '../raw-responses.http.js';

export type UploadLimits = {
  /** Bytes that must arrive in each second, on average over a window. */
  readonly uploadBytesPerSecond: number;
  readonly uploadWindowMs: number;
};

const createTooSlowRefusal = ({ uploadBytesPerSecond: rate, uploadWindowMs: window }: UploadLimits): Refusal => {
  const detail = `The upload is too slow. At least ${rate} bytes a second must arrive, on average over ${window / 1_000} seconds.`;
  return new Refusal('request-timeout', [{ detail }]);
};

/**
 * Ends an upload that arrives more slowly than the limit. Time in which the server is slower than the client does not
 * count: the buffer of the request is full then.
 */
export const requireUploadRate = (request: IncomingMessage, response: ServerResponse, limits: UploadLimits): void => {
  const { socket } = request;
  const minimum = (limits.uploadBytesPerSecond * limits.uploadWindowMs) / 1_000;
  let before = socket.bytesRead;
  const check = (): void => {
    const received = socket.bytesRead - before;
    before = socket.bytesRead;
    const isWaiting = request.readableLength < request.readableHighWaterMark;
    if (request.complete || !isWaiting || received >= minimum) return;
    if (response.headersSent) socket.destroy();
    else refuseConnection(socket, createTooSlowRefusal(limits));
  };
  const timer = setInterval(check, limits.uploadWindowMs).unref();
  request.once('close', () => clearInterval(timer));
};
