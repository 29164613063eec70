import { readFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { launchProduct, type Product } from '../support/product.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import { createCliUser, type CliUser } from './iac.js';

/** The built product over TLS with its own CA. */
export type CliSite = {
  readonly product: Product;
  /** Host and port, such as `localhost:8443`. */
  readonly host: string;
  /** Client of the administrator. */
  readonly api: ApiTestClient;
  /** Creates a user at a terminal. The default token is the administrator's; null for a user who logs in. */
  person(program: string, token?: string | null): Promise<CliUser>;
  /** Returns the `cloud` block that connects a configuration to these workspaces. */
  cloud(organization: string, workspaces: string): string;
};

/** Returns a client over `https`, because `fetch` accepts no CA of its own. */
const apiOver = (url: string, ca: string, token: string | null): ApiTestClient => {
  const send = (method: string, path: string, body?: unknown): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      const sent = body instanceof Uint8Array || body === undefined ? body : Buffer.from(JSON.stringify(body));
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        // Node sets no length for the body of a DELETE.
        ...(sent && { 'content-type': 'application/vnd.api+json', 'content-length': sent.length }),
      };
      // Each request uses a new connection, so that no open connection delays the stop of the server.
      const request = https.request(`${url}${path}`, { method, headers, ca, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: (response.headers['content-type'] ?? '').includes('json') && text ? JSON.parse(text) : null,
            text,
            headers: new Headers(response.headers as Record<string, string>),
          }),
        );
      });
      request.once('error', reject);
      request.end(sent);
    });
  return {
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    put: (path, body) => send('PUT', path, body),
    delete: (path, body) => send('DELETE', path, body),
    as: (other) => apiOver(url, ca, other as string | null),
  };
};

export const openSite = async (settings: Readonly<Record<string, string>> = {}): Promise<CliSite> => {
  const product = await launchProduct({ CADASTRE_TLS: 'auto', ...settings });
  await product.start();
  const caFile = join(product.dataFolder, 'tls/ca.pem');
  const host = `localhost:${product.port}`;
  return {
    product,
    host,
    api: apiOver(product.url, await readFile(caFile, 'utf8'), product.adminToken),
    person: (program, token = product.adminToken) => createCliUser({ program, host, token, caFile }),
    cloud: (organization, workspaces) => `
      terraform {
        cloud {
          hostname     = "${host}"
          organization = "${organization}"
          workspaces {
            ${workspaces}
          }
        }
      }
    `,
  };
};
