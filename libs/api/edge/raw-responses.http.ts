import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '#platform/kernel';
import { JSON_API, renderRefusal, getHttpStatus } from '#api/json-api';

/** Writes a refusal to a connection that has no readable request, and closes the connection. */
export const refuseConnection = (socket: Socket, refused: Refusal): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = getHttpStatus(refused);
  const body = JSON.stringify(renderRefusal(refused));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_API}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
};
