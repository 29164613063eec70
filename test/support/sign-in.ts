import { ensureUser } from '#identity/people';
import type { TestServer } from './server.js';
import { createSignInLink } from '../../libs/identity/sign-in/links/sign-in-links.operator.js';
import { computeTotpCode } from '../../libs/identity/sign-in/totp/totp.codes.js';

/** What a browser does with forms and cookies, without a browser. */
export class FormClient {
  private readonly cookies = new Map<string, string>();

  /** `origin`: of the pages, if it differs from the address. */
  constructor(
    private readonly url: string,
    private readonly origin: string = url,
  ) {}

  async get(path: string): Promise<Response> {
    return this.keep(await fetch(this.resolve(path), { redirect: 'manual', headers: { cookie: this.cookie() } }));
  }

  /** `headers` replace those of a browser. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = { origin: this.origin },
  ): Promise<Response> {
    const body = new URLSearchParams(fields);
    const sent = { cookie: this.cookie(), ...headers };
    return this.keep(await fetch(this.resolve(path), { method: 'POST', redirect: 'manual', headers: sent, body }));
  }

  getCookie(name: string): string | undefined {
    return this.cookies.get(name);
  }

  setCookie(name: string, value: string): void {
    this.cookies.set(name, value);
  }

  private resolve(path: string): string {
    return new URL(path, this.url).href;
  }

  private cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private keep(response: Response): Response {
    for (const header of response.headers.getSetCookie()) {
      const [pair = ''] = header.split(';');
      const at = pair.indexOf('=');
      if (header.includes('Max-Age=0')) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }
}

export const PASSWORD = 'four random words';

export const makeLink = async (server: TestServer, user: string, resetsMethods = false): Promise<string> => {
  const { url } = await createSignInLink(server.runtime, { user, resetsMethods, publicUrl: server.url });
  return new URL(url).searchParams.get('secret') ?? '';
};

export const signInByLink = async (server: TestServer, user: string): Promise<FormClient> => {
  const client = new FormClient(server.url, server.runtime.settings.publicUrl);
  await client.post('/sign-in/link', { secret: await makeLink(server, user) });
  return client;
};

/** Creates a user with a password. */
export const makePerson = async (server: TestServer, name: string): Promise<string> => {
  const { id } = await ensureUser(server.store, server.runtime.ids, name, false);
  const client = await signInByLink(server, id);
  const response = await client.post('/account/password', { password: PASSWORD });
  if (response.status !== 303) throw new Error(await response.text());
  return id;
};

/** Turns on one-time codes. Returns the key of the app, and the recovery codes. */
export const enableTotp = async (server: TestServer, user: string) => {
  const client = await signInByLink(server, user);
  const page = await (await client.get('/account/totp')).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const secret = (/<code>([^<]+)<\/code>/.exec(page)?.[1] ?? '').replaceAll(' ', '');
  const code = computeTotpCode(secret, server.runtime.clock.now());
  const done = await client.post('/account/totp', { token, code });
  const recoveryCodes = [...(await done.text()).matchAll(/<li>([a-z2-7-]+)<\/li>/g)].map(([, one = '']) => one);
  return { secret, code, recoveryCodes };
};
