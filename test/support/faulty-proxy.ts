import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type ForwardedBytes = { readonly method: string; readonly path: string; readonly status: number | null };

/** What befalls a request; `answer` may also change what a server has said. */
export type ProxyFault = {
  /** Cuts the connection before the server hears of it. */
  readonly cut?: boolean;
  /** Cuts it when so much of the body has passed. */
  readonly cutAfter?: number;
  /** Lets the server do it, and cuts the connection instead of telling so. */
  readonly swallow?: boolean;
  /** Answers in place of the server. */
  readonly status?: number;
  readonly change?: (body: any) => unknown;
};

type Found = ProxyFault | null | undefined;

/** What lies between a client and a server: everything passes there, and is written down; some of it gets into trouble. */
export type FaultyProxy = {
  readonly url: string;
  /** In the order in which they were answered; the status is null where the connection was cut. */
  readonly passed: ForwardedBytes[];
  /** Where to; it is known later than the way itself, whose address the server tells in its links. */
  lead(to: string): void;
  /** Asked of every request, which goes on when that is answered. */
  trouble(find: (request: { readonly method: string; readonly path: string }) => Found | Promise<Found>): void;
  close(): Promise<void>;
};

/** Passes so much of a body on, and no more. */
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

/** What the server says comes to the client, changed perhaps; resolves to its status, null where it was cut off. */
const led = async (
  request: IncomingMessage,
  response: ServerResponse,
  to: string,
  { cutAfter, swallow, change }: ProxyFault,
): Promise<number | null> => {
  const { method = '', headers } = request;
  const on = http.request(to, { method, headers, agent: false });
  const answered = answerTo(on);
  // A client that has gone leaves nothing behind that waits.
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
  const { statusCode = 500, headers: told } = answer;
  const { 'content-length': _, ...others } = told;
  response.writeHead(statusCode, others);
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
