import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

type StartupParameters = readonly (readonly [name: string, value: string])[];

/** A connection pooler in front of Postgres that, like PgBouncer, refuses a startup parameter or does not pass it on. */
type ConnectionPooler = { readonly url: string; close(): Promise<void> };

// https://www.postgresql.org/docs/18/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE
const parseStartup = (message: Buffer): StartupParameters => {
  const texts = message.subarray(8, -2).toString().split('\0');
  return texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1] ?? ''] as const] : []));
};

const formatStartup = (version: Buffer, parameters: StartupParameters): Buffer => {
  const body = Buffer.concat([version, Buffer.from(`${parameters.flat().join('\0')}\0\0`)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
};

const formatRefusal = (parameter: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${parameter}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
};

const connectTo = (url: URL): net.Socket => {
  const folder = url.searchParams.get('host');
  return folder === null ? net.connect(Number(url.port), url.hostname) : net.connect(`${folder}/.s.PGSQL.${url.port}`);
};

export const startConnectionPooler = async (
  databaseUrl: string,
  parameter: string,
  treatment: 'refuse' | 'drop',
): Promise<ConnectionPooler> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('data', (startup: Buffer) => {
      const parameters = parseStartup(startup);
      if (treatment === 'refuse' && parameters.some(([name]) => name === parameter)) {
        client.end(formatRefusal(parameter));
        return;
      }
      const upstream = connectTo(target);
      sockets.add(upstream);
      upstream.on('error', () => client.destroy());
      const remaining = parameters.filter(([name]) => name !== parameter);
      upstream.write(formatStartup(startup.subarray(4, 8), remaining));
      upstream.pipe(client);
      client.pipe(upstream);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
