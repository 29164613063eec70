import { expect } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { AdjustableClock } from './clocks.js';
import { checkDescribedResponse } from './described-responses.js';
import { startIdentityProvider, type TestIdentityProvider } from './identity-provider.js';
import { expectStatus, makeOrganization, makeTeam, resource, type SeededOrganization } from './seeds.js';
import { startTestServer, type ApiResponse, type ApiTestClient, type TestServer } from './server.js';

export const WORKLOAD_SUBJECT = 'repo:acme/app:ref:refs/heads/main';

/** Returns a body that creates an identity, which accepts `WORKLOAD_SUBJECT`. */
export const workloadIdentityBody = (name: string, attributes: object = {}): object =>
  resource('workload-identities', {
    name,
    issuer: 'https://token.actions.githubusercontent.com',
    claims: { sub: [WORKLOAD_SUBJECT] },
    ...attributes,
  });

/** Creates a workload identity of a team. Returns its id. */
export const makeWorkloadIdentity = async (
  api: ApiTestClient,
  team: string,
  name: string,
  attributes: object = {},
): Promise<string> => {
  const body = workloadIdentityBody(name, attributes);
  return expectStatus(await api.post(`/api/v2/teams/${team}/workload-identities`, body), 201).body.data.id as string;
};

export const EXCHANGE = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
} as const;

/** Sends a form to the token endpoint of a server. */
export const sendTokenRequest = async (
  { url }: { readonly url: string },
  fields: Readonly<Record<string, string>>,
): Promise<ApiResponse> => {
  const address = `${url}/oauth/token`;
  const response = await fetch(address, { method: 'POST', body: new URLSearchParams(fields) });
  const { status, headers } = response;
  const text = await response.text();
  const json: unknown = JSON.parse(text);
  checkDescribedResponse({
    method: 'POST',
    url: address,
    status,
    contentType: headers.get('content-type'),
    text,
    json,
  });
  return { status, headers, text, body: json };
};

/** Exchanges the token of a pipeline for a token of the team that the identity belongs to. */
export const exchangeToken = (
  server: { readonly url: string },
  identity: string,
  token: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<ApiResponse> =>
  sendTokenRequest(server, { ...EXCHANGE, audience: identity, subject_token: token, ...fields });

/** Expects the response of the token endpoint to refuse the request. By default, the request is not valid. */
export const expectTokenRefusal = (
  { status, body, headers }: ApiResponse,
  description: RegExp | string,
  refusal: { readonly status?: number; readonly error?: string } = {},
): void => {
  const expected = { status: 400, error: 'invalid_request', ...refusal };
  const pattern = typeof description === 'string' ? description : expect.stringMatching(description);
  expect([status, body]).toEqual([expected.status, { error: expected.error, error_description: pattern }]);
  expect(headers.get('cache-control')).toBe('no-store');
};

/** A server with a team, and an issuer of tokens whose private address is permitted. */
export type PipelineWorld = {
  readonly clock: AdjustableClock;
  readonly provider: TestIdentityProvider;
  readonly server: TestServer;
  readonly acme: SeededOrganization;
  readonly team: string;
  /** Returns the time of the server in seconds. */
  seconds(): number;
  /** Returns the claims of a job, which `WORKLOAD_SUBJECT` is the subject of. */
  jobClaims(claims?: JWTPayload): JWTPayload;
  /** Returns the token of a job. */
  sign(claims?: JWTPayload, options?: Parameters<TestIdentityProvider['signToken']>[1]): Promise<string>;
  /** Creates a workload identity of the issuer. */
  makeIdentity(attributes?: object, team?: string): Promise<string>;
  /** Exchanges a token of a job. Returns the token of the team. */
  issue(identity: string, claims?: JWTPayload): Promise<string>;
  close(): Promise<void>;
};

export const startPipelines = async (env: Readonly<Record<string, string>> = {}): Promise<PipelineWorld> => {
  const clock = new AdjustableClock();
  const provider = await startIdentityProvider();
  const options = { CADASTRE_OUTBOUND_PRIVATE_HOSTS: 'localhost', ...env };
  const server = await startTestServer({ clock, followers: true, env: options });
  const acme = await makeOrganization(server, 'acme');
  const team = await makeTeam(server, 'acme', 'delivery');
  let identities = 0;
  const seconds = (): number => Math.floor(clock.now().getTime() / 1_000);
  const jobClaims = (claims: JWTPayload = {}): JWTPayload => {
    const now = seconds();
    return { iat: now, exp: now + 300, aud: server.runtime.settings.publicUrl, sub: WORKLOAD_SUBJECT, ...claims };
  };
  const sign: PipelineWorld['sign'] = (claims, signing = {}) => provider.signToken(jobClaims(claims), signing);
  return {
    clock,
    provider,
    server,
    acme,
    team,
    seconds,
    jobClaims,
    sign,
    makeIdentity: (attributes = {}, ofTeam = team) =>
      makeWorkloadIdentity(server, ofTeam, `identity-${(identities += 1)}`, { issuer: provider.issuer, ...attributes }),
    issue: async (identity, claims) =>
      expectStatus(await exchangeToken(server, identity, await sign(claims)), 200).body.access_token as string,
    close: async () => {
      await server.close();
      await provider.close();
    },
  };
};
