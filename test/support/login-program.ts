import { once } from 'node:events';
import { createServer } from 'node:http';
import { toConsentPath } from './oauth.js';

/** A program that waits for the browser, as `terraform login` does. */
export type LoginProgram = {
  /** The path of the consent page on which the person approves this login. */
  readonly consentPath: string;
  readonly redirectUri: string;
  /** Resolves to the parameters with which the browser came back. */
  readonly returned: Promise<Readonly<Record<string, string>>>;
  close(): void;
};

const PORTS = Array.from({ length: 11 }, (_, n) => 10_000 + n);

/** Listens on the first free port of the range, on an address of this computer. */
export const startLoginProgram = async (address = '127.0.0.1', host = 'localhost'): Promise<LoginProgram> => {
  const server = createServer();
  for (const port of PORTS) {
    server.listen(port, address);
    const listening = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]);
    if (!listening) continue;
    const redirectUri = `http://${host}:${port}/login`;
    const returned = new Promise<Readonly<Record<string, string>>>((resolve) => {
      server.on('request', ({ url = '' }, response) => {
        const target = new URL(url, redirectUri);
        response.end('The program has the answer.');
        if (target.pathname === '/login') resolve(Object.fromEntries(target.searchParams));
      });
    });
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { redirectUri, consentPath: toConsentPath({ redirect_uri: redirectUri }), returned, close };
  }
  throw new Error(`the ports ${PORTS.join(', ')} are in use`);
};
