import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.js';
import { addIdentityProvider, CLIENT_SECRET, type SignInSite } from '../support/identity-providers.js';
import { OidcVisitor } from '../support/oidc-visitor.js';
import type { Product } from '../support/product.js';
import type { ApiTestClient } from '../support/server.js';

type KeepSecret = (name: string, secret: string) => string;

/** Returns the PKCE verifier in the cookie of a sign-in that has started. The cookie is signed and not encrypted. */
const readVerifier = (visitor: OidcVisitor): string => {
  const [payload = ''] = (visitor.client.getCookie('__Host-cadastre-oidc') ?? '').split('.');
  const [content] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string];
  return (JSON.parse(content) as { verifier: string }).verifier;
};

type World = { readonly site: SignInSite; readonly provider: TestIdentityProvider; readonly keep: KeepSecret };

/** Signs in once. The secrets get names with this prefix. */
const signIn = async ({ site, provider, keep }: World, id: string, prefix: string): Promise<number> => {
  const visitor = new OidcVisitor(site);
  const address = await visitor.start(id);
  keep(`${prefix} verifier`, readVerifier(visitor));
  const callback = await visitor.authenticate(provider, address, 'p-ada');
  keep(`${prefix} code`, new URL(callback, site.url).searchParams.get('code') ?? '');
  const { status } = await visitor.client.get(callback);
  const tokens = provider.tokenResponses.at(-1) ?? {};
  for (const name of ['id_token', 'access_token']) keep(`${prefix} ${name}`, tokens[name] as string);
  return status;
};

/** Signs a person in with a provider, once with success and once with an answer that fails a check. */
export const useSecretsOfOpenId = async (product: Product, api: ApiTestClient, keep: KeepSecret): Promise<void> => {
  const provider = await startIdentityProvider();
  try {
    const site = {
      url: product.url,
      post: (path: string, body?: unknown) => api.post(path, body),
      runtime: { settings: { publicUrl: product.url.replace('127.0.0.1', 'localhost') } },
    };
    const id = await addIdentityProvider(site, provider, { 'creates-users': true });
    keep('client secret', CLIENT_SECRET);
    provider.putPerson('p-ada', { preferred_username: 'ada' });
    const world = { site, provider, keep };
    const succeeded = await signIn(world, id, 'accepted');
    provider.forgeIdTokens({ key: 'unpublished' });
    const failed = await signIn(world, id, 'refused');
    if (succeeded !== 303 || failed !== 400) throw new Error(`the sign-ins had the results ${succeeded} and ${failed}`);
  } finally {
    await provider.close();
  }
};
