import { expectStatus, resource } from './seeds.js';
import type { TestIdentityProvider } from './identity-provider.js';
import type { ApiTestClient } from './server.js';

/** A server of a test with its public address. */
export type SignInSite = {
  readonly url: string;
  readonly runtime: { readonly settings: { readonly publicUrl: string } };
};

/** The secret of the client at test providers, and in the settings of the provider in Cadastre. */
export const CLIENT_SECRET = 'secret-of-the-oidc-client';

export const CALLBACK_PATH = /^\/sign-in\/oidc\/[\w-]+\/callback$/;

/** Makes a server the client of a test provider. `id`: of the provider in Cadastre. */
export const putTestClient = (
  { url, runtime }: SignInSite,
  provider: TestIdentityProvider,
  id: string,
  clientId = 'cadastre',
): void =>
  provider.putClient({
    client_id: clientId,
    client_secret: CLIENT_SECRET,
    redirect_uris: [`${runtime.settings.publicUrl}/sign-in/oidc/${id}/callback`],
    post_logout_redirect_uris: [],
    backchannel_logout_uri: `${url}/oauth/back-channel-logout/${id}`,
    backchannel_logout_session_required: true,
    scope: 'openid profile email groups',
  });

/** Creates an identity provider in Cadastre, and a client of it at the test provider. Returns its id. */
export const addIdentityProvider = async (
  server: SignInSite & Pick<ApiTestClient, 'post'>,
  provider: TestIdentityProvider,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const body = resource('identity-providers', {
    name: 'Acme',
    issuer: provider.issuer,
    'client-id': 'cadastre',
    'client-secret': CLIENT_SECRET,
    scopes: ['openid', 'profile', 'email', 'groups'],
    ...attributes,
  });
  const response = await server.post('/api/v2/admin/identity-providers', body);
  const { id, attributes: created } = expectStatus(response, 201).body.data;
  putTestClient(server, provider, id as string, created['client-id'] as string);
  return id as string;
};
