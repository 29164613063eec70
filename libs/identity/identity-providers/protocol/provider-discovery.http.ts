import {
  allowInsecureRequests,
  customFetch,
  discovery,
  None,
  type CustomFetch,
  type ServerMetadata,
} from 'openid-client';
import { isSecureAddress } from '#platform/kernel';
import { PROVIDER_TIMEOUT_MS } from './provider-fetch.http.js';
import { ProviderFault, toProviderFault } from './provider-fault.js';

/** Algorithms of ID tokens and logout tokens. With others, the client's secret or nothing would prove the issuer. */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** What a provider publishes about itself (OpenID Connect Discovery 1.0 §3), after the checks. */
export type ProviderMetadata = ServerMetadata & {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
};

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;
const OPTIONAL = ['userinfo_endpoint', 'end_session_endpoint'] as const;

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';

const refuse = (message: string): never => {
  throw new ProviderFault('invalid', message);
};

const checkEndpoints = (metadata: ServerMetadata): void => {
  const needsHttps = metadata.issuer.startsWith('https:');
  for (const name of REQUIRED) if (metadata[name] === undefined) refuse(`the provider publishes no ${name}`);
  for (const name of [...REQUIRED, ...OPTIONAL]) {
    const address = metadata[name];
    if (address !== undefined && !isUsableEndpoint(address, needsHttps))
      refuse(`the provider publishes an insecure ${name}`);
  }
};

/**
 * Endpoints may have a query, unlike issuers. Plain HTTP is for providers on this machine, whose issuer has it too: others
 * could lead requests with secrets to a service of this machine.
 */
const isUsableEndpoint = (address: unknown, needsHttps: boolean): boolean =>
  typeof address === 'string' &&
  isSecureAddress(address.replace(/\?.*$/, '')) &&
  (!needsHttps || URL.parse(address)?.protocol === 'https:');

const includes = (list: unknown, value: string): boolean => Array.isArray(list) && list.includes(value);

const checkSupport = (metadata: ServerMetadata): void => {
  const { response_types_supported: types, id_token_signing_alg_values_supported: algorithms } = metadata;
  const { code_challenge_methods_supported: methods } = metadata;
  if (types !== undefined && !includes(types, 'code')) refuse('the provider does not support the response type code');
  if (algorithms !== undefined && !SIGNING_ALGORITHMS.some((algorithm) => includes(algorithms, algorithm))) {
    refuse(`the provider signs ID tokens with none of ${SIGNING_ALGORITHMS.join(', ')}`);
  }
  if (methods !== undefined && !includes(methods, 'S256')) refuse('the provider does not support PKCE with S256');
};

/**
 * Reads what a provider publishes about itself, and checks that sign-ins with it can work. Throws `ProviderFault`, also
 * if the provider calls itself by another name than `issuer`: all tokens contain that name.
 */
export const discoverProvider = async (issuer: string, fetchFromProvider: CustomFetch): Promise<ProviderMetadata> => {
  const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const configuration = await discovery(address, 'discovery', undefined, None(), {
    [customFetch]: fetchFromProvider,
    timeout: PROVIDER_TIMEOUT_MS / 1_000,
    execute: address.protocol === 'http:' ? [allowInsecureRequests] : [],
  }).catch((error: unknown) => {
    const { kind, message } = toProviderFault(error);
    throw new ProviderFault(kind, kind === 'invalid' ? `${address.host} has no discovery document there` : message);
  });
  const metadata = configuration.serverMetadata();
  if (metadata.issuer !== issuer) refuse(`the provider calls itself ${show(metadata.issuer)}`);
  checkEndpoints(metadata);
  checkSupport(metadata);
  return metadata as ProviderMetadata;
};
