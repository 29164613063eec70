import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection that may wait for the response to an earlier request. Hardly any client sends even one. If
 * the connection closes, Node creates an error for each of them, which takes up to 0.5 ms.
 */
const MAX_WAITING_REQUESTS = 4;

type PipelinedRequest = { readonly request: IncomingMessage; readonly response: ServerResponse };

/** Node's parser of a connection, which is not documented. Without it, `stop` is slower and has the same result. */
type SocketWithParser = Socket & { readonly parser?: { onIncoming?: () => number } | null };

/**
 * Node's server returns this to its parser for an upgrade of the protocol. The parser then ignores the bytes that
 * follow.
 */
const STOP_PARSING = 2;

/**
 * Closes the connection and skips the requests that arrived in the same chunk: up to 1,300 requests in 64 KB. Node
 * would create an error for each of them.
 */
const stop = (socket: SocketWithParser): void => {
  if (socket.parser) socket.parser.onIncoming = () => STOP_PARSING;
  socket.destroy();
};

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Handles the requests of each connection one after another. Node would start all that arrive together: 300 small
 * requests on each of 200 connections kept the event loop busy for 25 s. A connection with more than 4 waiting requests
 * is closed.
 *
 * Call it after all other listeners for `request` are registered. It calls them when the turn of a request comes.
 */
export const serializeRequests = (server: Server): void => {
  const handlers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const waiting = new WeakMap<Socket, PipelinedRequest[]>();

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once('close', () => {
      const next = waiting.get(socket)?.shift();
      if (!next || !socket.writable) waiting.delete(socket);
      else handle(next.request, next.response);
    });
    for (const handler of handlers) handler.call(server, request, response);
  };

  server.on('request', (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const queue = waiting.get(socket);
    if (!queue) {
      waiting.set(socket, []);
      handle(request, response);
    } else if (queue.push({ request, response }) > MAX_WAITING_REQUESTS) {
      waiting.delete(socket);
      stop(socket);
    }
  });
};
