import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectStatus, resource } from './seeds.js';
import type { ApiResponse, ApiTestClient } from './server.js';

/** A request that a destination of notifications has got. */
type ReceivedNotification = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type NotificationReceiver = {
  readonly url: string;
  readonly received: ReceivedNotification[];
  /** Replaces the answer to all requests from now on. Without a reset, requests get 200 `ok`. */
  answer(how: (response: ServerResponse, request: IncomingMessage) => void): void;
  reset(): void;
  close(): Promise<void>;
};

const answerOk = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'session=1' }).end('ok');

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

/** Starts an HTTP server that records what it gets. */
export const startReceiver = async (address = '127.0.0.1'): Promise<NotificationReceiver> => {
  const received: ReceivedNotification[] = [];
  let respond: (response: ServerResponse, request: IncomingMessage) => void = answerOk;
  const server = createServer((request, response) => {
    // A request that the sender aborts has no end.
    response.on('error', () => undefined);
    readBody(request).then(
      (body) => {
        received.push({ path: request.url ?? '', headers: request.headers, body });
        respond(response, request);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${address}:${port}/hook`,
    received,
    answer: (how) => (respond = how),
    reset: () => {
      respond = answerOk;
      received.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** The setting with which a test server reaches receivers. */
export const REACHES_RECEIVERS = { CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.0/8' } as const;

export const newNotificationConfiguration = (name: string, attributes: object = {}): object =>
  resource('notification-configurations', {
    name,
    'destination-type': 'generic',
    url: 'https://hooks.example.com/secret-path',
    ...attributes,
  });

/** Creates a configuration. `owner` is a path such as `workspaces/ws-1`. */
export const makeNotificationConfiguration = async (
  api: ApiTestClient,
  owner: string,
  name: string,
  attributes: object = {},
): Promise<string> => {
  const path = `/api/v2/${owner}/notification-configurations`;
  const created: ApiResponse = await api.post(path, newNotificationConfiguration(name, attributes));
  return expectStatus(created, 201).body.data.id as string;
};
