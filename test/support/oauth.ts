import { createHash } from 'node:crypto';

export const VERIFIER = 'f4c995cd-7a4a-f09e-8c39-b559a2f82f89.826050967';

const toChallenge = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export const REDIRECT_URI = 'http://localhost:10003/login';

/** The parameters that `terraform login` puts into the address that it opens in the browser. */
export const AUTHORIZATION: Readonly<Record<string, string>> = {
  client_id: 'terraform-cli',
  code_challenge: toChallenge(VERIFIER),
  code_challenge_method: 'S256',
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  state: '14e7ac20-7e60-276c-8b00-fc0d48563e5f',
};

/** Returns the path of the consent page. `undefined` removes a parameter. */
export const toConsentPath = (changes: Readonly<Record<string, string | undefined>> = {}): string => {
  const parameters = Object.entries({ ...AUTHORIZATION, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return `/oauth/authorize?${new URLSearchParams(parameters).toString()}`;
};

export type OauthAnswer = { readonly status: number; readonly body: any; readonly headers: Headers };

/** Sends a form to an endpoint that programs call, as `terraform login` does. */
export const sendOauthForm = async (
  url: string,
  path: string,
  form: Readonly<Record<string, string>> | URLSearchParams | string,
  headers: Readonly<Record<string, string>> = { 'user-agent': 'Terraform/1.11.4' },
): Promise<OauthAnswer> => {
  const body = typeof form === 'string' ? form : new URLSearchParams(form as Record<string, string>).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers: { ...type, ...headers }, body });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
};

/** Returns the form with which the program exchanges the code. */
export const toTokenForm = (code: string): Record<string, string> => ({
  grant_type: 'authorization_code',
  client_id: 'terraform-cli',
  code,
  code_verifier: VERIFIER,
  redirect_uri: REDIRECT_URI,
});
