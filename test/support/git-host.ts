import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Vault } from '#storage/vault';
import { ConnectionTokens } from '#vcs/connections';
import type { HostAuthorization } from '#vcs/git-hosts';
import { expectStatus, resource } from './seeds.js';
import type { ApiTestClient, TestServer } from './server.js';

export const HOST_TOKEN = 'b7c1-token-of-the-git-host';

const COMMIT = 'c0ffee'.padEnd(40, '0');

const REPOSITORY = {
  full_name: 'acme/network',
  default_branch: 'main',
  html_url: 'https://git.example.com/acme/network',
};

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v1/user': { login: 'cadastre-bot' },
  '/api/v1/repos/search': { data: [REPOSITORY] },
  '/api/v1/repos/acme/network': REPOSITORY,
  '/api/v1/repos/acme/network/branches/main': { commit: { id: COMMIT } },
  '/api/v1/repos/acme/network/commits': [
    { sha: COMMIT, html_url: 'https://git.example.com/acme/network/commit/1', commit: { message: 'Add' }, parents: [] },
  ],
  [`/api/v1/repos/acme/network/git/trees/${COMMIT}`]: { tree: [{ path: 'modules', type: 'tree' }], truncated: false },
};

const startHost = async (): Promise<GitHostAddress> => {
  const server = createServer((request, response) => {
    const answer = ANSWERS[new URL(request.url ?? '', 'http://host').pathname];
    const isKnown = request.headers.authorization === `token ${HOST_TOKEN}`;
    const status = isKnown ? (answer ? 200 : 404) : 401;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(isKnown ? answer : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It does not keep the worker alive.
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

let started: Promise<GitHostAddress> | null = null;

/**
 * Returns a server with the answers of a Gitea that has one repository, `acme/network`. It refuses every token except
 * `HOST_TOKEN`. All files of a worker share it.
 */
export const openTestGitHost = (): Promise<GitHostAddress> => (started ??= startHost());

/** The setting with which a test server reaches Git hosts on this machine. */
export const REACHES_GIT_HOSTS = { CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' } as const;

/** The address of a Git host, and what opens it. */
export type GitHostAddress = { readonly url: string; readonly token?: string };

export const newOauthClient = ({ url, token = HOST_TOKEN }: GitHostAddress, attributes: object = {}): object =>
  resource('oauth-clients', {
    'service-provider': 'gitea',
    'http-url': url,
    'api-url': `${url}/api/v1`,
    'oauth-token-string': token,
    ...attributes,
  });

/** Connects the organization to the host. Returns the ids of the client and of its token. */
export const makeOauthClient = async (
  api: ApiTestClient,
  organization: string,
  host: GitHostAddress,
  name: string | null = null,
): Promise<{ readonly client: string; readonly token: string }> => {
  const path = `/api/v2/organizations/${organization}/oauth-clients`;
  const { data } = expectStatus(await api.post(path, newOauthClient(host, { name })), 201).body;
  return { client: data.id as string, token: data.relationships['oauth-tokens'].data[0].id as string };
};

/** Returns the tokens of the connections, as the jobs of a server open them. */
export const createConnectionTokens = (
  { runtime, store, database }: Pick<TestServer, 'runtime' | 'store' | 'database'>,
  { authorization }: { readonly authorization: Pick<HostAuthorization, 'renew'> },
): ConnectionTokens =>
  new ConnectionTokens({ ...runtime, store, vault: new Vault(database, runtime.encryptionKeys), authorization });
