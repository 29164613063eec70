import { expectStatus, resource } from './seeds.js';
import type { TestIdentityProvider } from './identity-provider.js';
import type { TestServer } from './server.js';

/** The secret of the client at test providers, and in the settings of the provider in Cadastre. */
export const CLIENT_SECRET = 'secret-of-the-oidc-client';

export const CALLBACK_PATH = '/sign-in/oidc/callback';

/** Creates an identity provider in Cadastre, and a client of it at the test provider. Returns its id. */
export const addIdentityProvider = async (
  server: TestServer,
  provider: TestIdentityProvider,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const clientId = typeof attributes['client-id'] === 'string' ? attributes['client-id'] : 'cadastre';
  provider.putClient({
    client_id: clientId,
    client_secret: CLIENT_SECRET,
    redirect_uris: [`${server.runtime.settings.publicUrl}${CALLBACK_PATH}`],
    scope: 'openid profile email groups',
  });
  const body = resource('identity-providers', {
    name: 'Acme',
    issuer: provider.issuer,
    'client-id': clientId,
    'client-secret': CLIENT_SECRET,
    scopes: ['openid', 'profile', 'email', 'groups'],
    ...attributes,
  });
  return expectStatus(await server.post('/api/v2/admin/identity-providers', body), 201).body.data.id as string;
};
