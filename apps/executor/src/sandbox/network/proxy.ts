import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createLimiter } from './limiter.js';
import {
  RefusedDestination,
  toHostAndPort,
  useAddresses,
  type HostAndPort,
  type Destinations,
} from './destinations.js';

/** Connections of one sandbox. terraform uses fewer than a hundred. */
const MAX_CONNECTIONS = 1024;
const CONNECT_TIMEOUT_MS = 30_000;

/** Headers about one connection, which a proxy does not pass on (RFC 9110 section 7.6.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A proxy for the commands in one sandbox, on Unix sockets that are mounted into it. */
type SandboxProxy = { close(): void };

const parseAuthority = (authority: string): HostAndPort | null => {
  const [, bracketed, name, port = ''] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(authority) ?? [];
  const host = bracketed ?? name;
  return host !== undefined && Number(port) >= 1 && Number(port) <= 65_535 ? { host, port: Number(port) } : null;
};

const parseTarget = (url: string): (HostAndPort & { readonly path: string }) | null => {
  if (!url.startsWith('http://') || !URL.canParse(url)) return null;
  const target = new URL(url);
  return { ...toHostAndPort(target), path: target.pathname + target.search };
};

type ProxyRefusal = { readonly status: number; readonly reason: string };

const toRefusal = (error: unknown): ProxyRefusal =>
  error instanceof RefusedDestination
    ? { status: 403, reason: error.message }
    : { status: 502, reason: `Cadastre cannot connect: ${(error as Error).message}` };

/** Status lines contain visible ASCII, and Go shows nothing else of a refused CONNECT. */
const toStatusText = (text: string): string => text.replaceAll(/[^\x20-\x7E]+/g, ' ').slice(0, 200);

const BAD_TARGET: ProxyRefusal = { status: 400, reason: 'Cadastre expects CONNECT HOST:PORT or an http:// URL' };

class ForwardProxy {
  private readonly sockets = new Set<Socket>();
  private readonly servers: Server[] = [];
  private readonly lookups = createLimiter(1);

  constructor(private readonly destinations: Destinations) {}

  async listen(path: string): Promise<void> {
    const server = createServer((incoming, response) => void this.forward(incoming, response));
    server.on('connect', (incoming, socket: Socket, head: Buffer) => void this.tunnel(incoming, socket, head));
    server.headersTimeout = CONNECT_TIMEOUT_MS;
    await this.open(server, path);
  }

  /** Forwards connections of a socket to one destination, for programs that use no proxy for it. */
  async forwardSocket(path: string, destination: HostAndPort): Promise<void> {
    const server = createSocketServer({ allowHalfOpen: true }, (near) => {
      this.connectTo(destination).then(
        (far) => this.join(near, far),
        () => near.destroy(),
      );
    });
    await this.open(server, path);
  }

  close(): void {
    for (const server of this.servers) server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async open(server: Server, path: string): Promise<void> {
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => this.track(socket));
    this.servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.sockets.delete(socket));
  }

  private join(near: Socket, far: Socket): void {
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    near.pipe(far).pipe(near);
  }

  private async connectTo(destination: HostAndPort): Promise<Socket> {
    // One at a time, so that no sandbox delays the lookups of others.
    const addresses = await this.lookups(() => this.destinations.findAddresses(destination));
    const far = connect({
      ...destination,
      lookup: useAddresses(addresses),
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
    this.track(far);
    far.setTimeout(CONNECT_TIMEOUT_MS, () => far.destroy(new Error('the server does not answer')));
    await new Promise<void>((resolve, reject) => {
      far.once('connect', resolve).once('error', reject);
    });
    far.setTimeout(0);
    return far;
  }

  private async tunnel({ url = '' }: IncomingMessage, near: Socket, head: Buffer): Promise<void> {
    const destination = parseAuthority(url);
    const refuse = ({ status, reason }: ProxyRefusal) =>
      near.end(`HTTP/1.1 ${status} ${toStatusText(reason)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    if (!destination) return void refuse(BAD_TARGET);
    try {
      const far = await this.connectTo(destination);
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      this.join(near, far);
    } catch (error) {
      refuse(toRefusal(error));
    }
  }

  private async forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseTarget(incoming.url ?? '');
    const refuse = ({ status, reason }: ProxyRefusal) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(status, toStatusText(reason), { 'content-type': 'text/plain' }).end(`${reason}\n`);
    };
    if (!target) return refuse(BAD_TARGET);
    try {
      const { path, ...destination } = target;
      const far = await this.connectTo(destination);
      const { method, headers } = incoming;
      const outgoing = request({
        method,
        path,
        headers: keepEndToEnd(headers),
        createConnection: () => far,
        setHost: false,
      });
      outgoing.once('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, keepEndToEnd(answer.headers));
        pipeline(answer, response, () => far.destroy());
      });
      outgoing.once('error', (error) => refuse(toRefusal(error)));
      response.once('close', () => far.destroy());
      pipeline(incoming, outgoing, () => undefined);
    } catch (error) {
      refuse(toRefusal(error));
    }
  }
}

const keepEndToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const listed = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name) && !listed.includes(name)),
  );
};

/** Where a proxy listens: `socket` for a proxy, and `serverSocket` for the Cadastre server itself. */
type ProxySockets = { readonly socket: string; readonly serverSocket: string };

/** Starts a proxy to the permitted destinations, and a way to the server without a proxy. */
export const startProxy = async (
  destinations: Destinations,
  { socket, serverSocket }: ProxySockets,
): Promise<SandboxProxy> => {
  const proxy = new ForwardProxy(destinations);
  await Promise.all([proxy.listen(socket), proxy.forwardSocket(serverSocket, destinations.server)]);
  return proxy;
};
