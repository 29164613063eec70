import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection to a server that a test can cut and restore. */
export type FlakyConnection = {
  /** URL of the server through the connection. */
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
};

export const openFlakyConnection = async (to: string): Promise<FlakyConnection> => {
  const target = new URL(to);
  const open = new Set<Socket>();
  const track = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket)).on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) track(socket);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const cut = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  const port = await listen(0);
  const url = Object.assign(new URL(to), { hostname: '127.0.0.1', port: String(port) });
  // The folder of the server's socket, which has no port of its own to cut.
  url.searchParams.delete('host');
  return {
    url: url.toString(),
    cut,
    mend: async () => void (await listen(port)),
    close: () => (server.listening ? cut() : Promise.resolve()),
  };
};
