import type { TestIdentityProvider } from './identity-provider.js';
import { CALLBACK_PATH, type SignInSite } from './identity-providers.js';
import { FormClient } from './sign-in.js';

/** Steps of redirects and forms between the start of a sign-in and its end. */
const MAX_STEPS = 10;

const locationOf = (response: Response): string => {
  const location = response.headers.get('location');
  if (response.status !== 303 || location === null) throw new Error(`no redirect, but status ${response.status}`);
  return location;
};

/** A browser in which a person signs in with identity providers. It keeps the cookies of each of them. */
export class OidcVisitor {
  readonly client: FormClient;
  private readonly atProviders = new Map<string, FormClient>();

  /** `client`: a browser that has a session already. */
  constructor({ url, runtime }: SignInSite, client = new FormClient(url, runtime.settings.publicUrl)) {
    this.client = client;
  }

  /** Starts a sign-in. Returns the address at the provider. */
  async start(id: string, query = ''): Promise<string> {
    return locationOf(await this.client.get(`/sign-in/oidc/${id}${query}`));
  }

  /** Follows the pages of the provider, and logs in if it asks. Returns the path of the callback with its query. */
  async authenticate({ issuer }: TestIdentityProvider, address: string, subject: string): Promise<string> {
    const atProvider = this.atProviders.get(issuer) ?? new FormClient(issuer);
    this.atProviders.set(issuer, atProvider);
    let response = await atProvider.get(address);
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (response.status === 200) {
        const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(await response.text()) ?? [];
        response = await atProvider.post(action, { prompt: 'login', login: subject, password: 'any' });
      } else {
        const { pathname, search, href } = new URL(locationOf(response), issuer);
        if (CALLBACK_PATH.test(pathname)) return `${pathname}${search}`;
        response = await atProvider.get(href);
      }
    }
    throw new Error('the provider does not lead back');
  }

  /** Signs in as a person of the provider. Returns the response to the callback. */
  async signIn(id: string, provider: TestIdentityProvider, subject: string, query = ''): Promise<Response> {
    const address = await this.start(id, query);
    return this.client.get(await this.authenticate(provider, address, subject));
  }
}
