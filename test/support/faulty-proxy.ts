import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

type ForwardedBytes = { readonly method: string; readonly path: string; readonly status: number | null };

/** A fault that happens to a request. `change` changes the body of the response. */
type ProxyFault = {
  /** Cuts the connection before the server gets the request. */
  readonly cut?: boolean;
  /** Cuts the connection when this number of bytes of the body has passed. */
  readonly cutAfter?: number;
  /** Passes the request on, and cuts the connection instead of passing the response back. */
  readonly swallow?: boolean;
  /** Sends this status instead of passing the request on. */
  readonly status?: number;
  readonly change?: (body: any) => unknown;
};

type PlantedFault = ProxyFault | null | undefined;

/** A proxy between a client and a server. It records all requests, and lets some of them fail. */
export type FaultyProxy = {
  readonly url: string;
  /** Requests in the order of their responses. The status is null if the connection was cut. */
  readonly passed: ForwardedBytes[];
  /** Sets the server. It is set later, because the server needs the proxy's URL for its links. */
  lead(to: string): void;
  /** Sets a function that chooses the fault of each request. */
  trouble(
    find: (request: { readonly method: string; readonly path: string }) => PlantedFault | Promise<PlantedFault>,
  ): void;
  close(): Promise<void>;
};

/** Passes this number of bytes on. */
const partOf = async (body: IncomingMessage, most: number, on: ClientRequest): Promise<void> => {
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    on.write(piece);
    bytes += piece.length;
    if (bytes >= most) return;
  }
};

const answerTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });

/**
 * Passes the response to the client, possibly changed. Resolves to its status, or to null if the connection was cut.
 */
const led = async (
  request: IncomingMessage,
  response: ServerResponse,
  to: string,
  { cutAfter, swallow, change }: ProxyFault,
): Promise<number | null> => {
  const { method = '', headers } = request;
  const on = http.request(to, { method, headers, agent: false });
  const answered = answerTo(on);
  // Ends the request to the server when the client has gone.
  response.once('close', () => on.destroy());
  if (cutAfter !== undefined) {
    answered.catch(() => {});
    await partOf(request, cutAfter, on);
    return null;
  }
  request.pipe(on);
  const answer = await answered;
  const body = await buffer(answer);
  if (swallow) {
    return null;
  }
  const { statusCode = 500, headers: responseHeaders } = answer;
  const { 'content-length': _, ...otherHeaders } = responseHeaders;
  response.writeHead(statusCode, otherHeaders);
  response.end(change ? JSON.stringify(change(JSON.parse(body.toString()))) : body);
  return statusCode;
};

export const startFaultyProxy = async (): Promise<FaultyProxy> => {
  let to = '';
  let find: Parameters<FaultyProxy['trouble']>[0] = () => null;
  const passed: ForwardedBytes[] = [];

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<number | null> => {
    const { method = '', url: path = '' } = request;
    const trouble = (await find({ method, path })) ?? {};
    if (trouble.cut) {
      return null;
    }
    if (trouble.status === undefined) return led(request, response, `${to}${path}`, trouble);
    request.resume();
    response.writeHead(trouble.status, { 'retry-after': '0' }).end();
    return trouble.status;
  };

  const server = http.createServer((request, response) => {
    const { method = '', url: path = '' } = request;
    void pass(request, response)
      .catch(() => null)
      .then((status) => {
        if (status === null) response.destroy();
        passed.push({ method, path, status });
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    lead: (url) => (to = url),
    trouble: (how) => (find = how),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
