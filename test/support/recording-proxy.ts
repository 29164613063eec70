import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type RecordingProxy = {
  readonly url: string;
  /** Paths of all requests. */
  readonly requests: string[];
  /** Never answers the next request whose method and path, such as `GET /user`, match. Resolves when it arrives. */
  holdNext(matches: (request: string) => boolean): Promise<void>;
  close(): Promise<void>;
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const pass = async (target: string, { method = 'GET', url = '', headers }: IncomingMessage, body: Buffer) => {
  const { authorization = '', 'content-type': type = 'application/json' } = headers;
  const answer = await fetch(`${target}${url}`, {
    method,
    headers: { authorization, 'content-type': type },
    redirect: 'manual',
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  return { answer, content: Buffer.from(await answer.arrayBuffer()) };
};

/** Starts a server that passes requests to another one and records them. */
export const createRecordingProxy = async (target: string): Promise<RecordingProxy> => {
  const requests: string[] = [];
  let unanswered: { readonly matches: (request: string) => boolean; readonly resolve: () => void } | null = null;
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    // A request that the sender aborts has no end.
    response.on('error', () => undefined);
    if (unanswered?.matches(`${request.method} ${path}`)) {
      unanswered.resolve();
      unanswered = null;
      return;
    }
    readBody(request)
      .then((body) => pass(target, request, body))
      .then(
        ({ answer, content }) =>
          response
            .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
            .end(answer.status === 204 ? undefined : content),
        () => response.destroy(),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    holdNext: (matches) => new Promise((resolve) => (unanswered = { matches, resolve })),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
