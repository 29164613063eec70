import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type RecordingProxy = {
  readonly url: string;
  /** Paths of all requests. */
  readonly requests: string[];
  close(): Promise<void>;
};

/** Starts a server that passes GET requests to another one and records them. */
export const createRecordingProxy = async (target: string): Promise<RecordingProxy> => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const headers = { authorization: request.headers.authorization ?? '' };
    fetch(`${target}${request.url}`, { headers }).then(
      async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
