import { BlockList, isIP, type Socket } from 'node:net';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, Refusal, unavailable } from '#platform/kernel';
import { normalizeAddresses } from './addresses.http.js';
import { refuseOverload, type OverloadOptions } from './overload.http.js';
import { serializeRequests } from './pipelining.http.js';
import type { UnansweredLimits } from './request-admission.js';
import { refuseConnection } from '../raw-responses.http.js';
import { getContentLength } from '../bodies/request-bodies.hooks.js';

export type ConnectionLimits = {
  readonly connections: number;
  /** Connections from one address. Trusted proxies are not limited. */
  readonly connectionsPerAddress: number;
  /** Time for the TLS handshake, and again for the headers of a request. */
  readonly headersMs: number;
  /** Time without a byte in either direction. */
  readonly idleMs: number;
  /** Bytes that the server still reads and drops of a body after the response, before it closes the connection. */
  readonly drainBytes: number;
  readonly drainMs: number;
  /** Null: the server works on any number of requests at the same time. */
  readonly unanswered: UnansweredLimits | null;
};

/** Connections above the limit that still get a refusal instead of a reset. */
const MAX_CONCURRENT_REFUSALS = 100;

/** Returns options of Node's HTTP server. The TLS options have no effect without TLS. */
export const buildServerOptions = ({ headersMs }: ConnectionLimits): object => ({
  headersTimeout: headersMs,
  handshakeTimeout: headersMs,
  // Node checks for expired requests at this interval.
  connectionsCheckingInterval: Math.min(headersMs, 1_000),
});

const clientErrors: Readonly<Record<string, () => Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new Refusal('request-timeout', [{ detail: 'The headers of the request did not arrive in time.' }]),
  HPE_HEADER_OVERFLOW: () => badRequest('The headers of the request are too large. At most 16 KiB are accepted.'),
};

/**
 * Responds to requests that Node's HTTP parser refuses: incomplete headers, headers that are too large, and bytes that
 * are not HTTP.
 */
export const refuseBrokenRequest = (error: { readonly code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') {
    // A response would have to wait for the handshake.
    socket.destroy();
    return;
  }
  refuseConnection(socket, (clientErrors[error.code ?? ''] ?? (() => badRequest('The request is not valid HTTP.')))());
};

const toBlockList = (addresses: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const entry of addresses) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
};

const isIn = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

const isSecure = (server: Server): boolean => 'setSecureContext' in server;

/**
 * Limits the number of connections. The first request of a connection above a limit gets 503 with `Retry-After`, and
 * the connection closes. Far above the limit, Node closes connections at once.
 */
const limitConnections = (
  fastify: FastifyInstance,
  server: Server,
  trustedProxies: readonly string[],
  limits: ConnectionLimits,
): void => {
  const proxies = toBlockList(trustedProxies);
  const perAddress = new Map<string, number>();
  const refused = new WeakSet<Socket>();
  let total = 0;

  const count = (address: string, change: 1 | -1): number => {
    const current = (perAddress.get(address) ?? 0) + change;
    if (current === 0) perAddress.delete(address);
    else perAddress.set(address, current);
    total += change;
    return current;
  };

  server.maxConnections = limits.connections + MAX_CONCURRENT_REFUSALS;
  const admit = (socket: Socket): void => {
    const address = socket.remoteAddress ?? '';
    const fromAddress = count(address, 1);
    socket.once('close', () => count(address, -1));
    const isProxy = address !== '' && isIn(proxies, address);
    const isTooMany = total > limits.connections || (!isProxy && fromAddress > limits.connectionsPerAddress);
    if (!isTooMany) return;
    refused.add(socket);
    const timer = setTimeout(() => socket.destroy(), limits.headersMs).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  server.on(isSecure(server) ? 'secureConnection' : 'connection', admit);

  fastify.addHook('onRequest', (request: FastifyRequest, reply, next) => {
    if (!refused.has(request.raw.socket)) return next();
    void reply.header('connection', 'close');
    next(unavailable('The server has too many connections. Please try again.', 1));
  });
};

/**
 * Closes connections on which nothing has come when the server stops, such as those that browsers open in advance. Node
 * does not count them as idle, and would wait for them until the limit of the first headers.
 */
const closeUnused = (fastify: FastifyInstance, server: Server): void => {
  /** The bytes of the connection when it was ready: those of the TLS handshake. */
  const unused = new Map<Socket, number>();
  server.on(isSecure(server) ? 'secureConnection' : 'connection', (socket: Socket) => {
    unused.set(socket, socket.bytesRead);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  fastify.addHook('preClose', (done) => {
    for (const [socket, bytes] of unused) if (socket.bytesRead === bytes) socket.destroy();
    done();
  });
};

/** Reads and drops the rest of a body after an early response, up to the limits, and then closes the connection. */
const drain = (request: IncomingMessage, { drainBytes, drainMs }: ConnectionLimits): void => {
  const { socket } = request;
  let dropped = 0;
  const drop = (piece: Buffer): void => {
    dropped += piece.length;
    if (dropped > drainBytes) socket.destroy();
  };
  const timer = setTimeout(() => socket.destroy(), drainMs).unref();
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('data', drop);
    // The server has already ended its side, because the response announced the end of the connection.
    if (socket.writableEnded) socket.destroy();
  };
  socket.on('data', drop);
  request.once('end', stop).once('close', stop).resume();
};

/**
 * Keeps the connection open after an early response, for clients that send the complete body before they read. Node
 * would destroy the connection with the response, or read the rest without a limit (RFC 9112 §9.6).
 */
const closeAfterUnreadBodies = (server: Server, limits: ConnectionLimits): void => {
  const latest = new WeakMap<Socket, IncomingMessage>();
  const closeGently = (socket: Socket): void => {
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (latest.get(socket)?.complete === false) socket.end();
      else destroySoon();
    };
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (getContentLength(request.headers) === 0) return;
    if (!latest.has(request.socket)) closeGently(request.socket);
    latest.set(request.socket, request);
    response.once('finish', () => {
      if (!request.complete) drain(request, limits);
    });
  });
};

/** Applies the limits for connections and for requests that are slow, unfinished or refused. */
export const guardConnections = (
  fastify: FastifyInstance,
  trustedProxies: readonly string[],
  limits: ConnectionLimits,
  overload: Pick<OverloadOptions, 'delayOf' | 'chooseRequestId'>,
): void => {
  const server = fastify.server as Server;
  closeUnused(fastify, server);
  limitConnections(fastify, server, trustedProxies, limits);
  if (limits.unanswered) refuseOverload(fastify, { limits: limits.unanswered, ...overload });
  closeAfterUnreadBodies(server, limits);
  serializeRequests(server);
  normalizeAddresses(server);
  // The reader of the body sends `100 Continue` after the server has accepted the headers.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
};
