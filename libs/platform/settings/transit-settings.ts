import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { findFileFault } from './pem-files.js';
import type { EnvironmentValues } from './secret-files.js';
import { parseStoredKey } from './stored-key.js';
import { transitVariables } from './transit-variables.js';
import type { environment } from './variables.js';

type TransitEnvironment = z.output<typeof environment>;

/** How processes log in to Vault. Each file is read again for each login. */
export type TransitLogin =
  | { readonly method: 'token' }
  /** `role` is the role id, and the file contains the secret id. */
  | { readonly method: 'approle'; readonly mount: string; readonly role: string }
  /** The file contains the JWT of a service account. */
  | { readonly method: 'kubernetes'; readonly mount: string; readonly role: string };

/** The transit engine of a Vault or OpenBao, which wraps the encryption key. */
export type TransitSettings = {
  /** URL without a slash at its end. */
  readonly address: string;
  /** Absolute path. */
  readonly caFile: string | null;
  readonly namespace: string | null;
  readonly mount: string;
  readonly keyName: string;
  readonly login: TransitLogin;
  /** Absolute path. */
  readonly credentialFile: string;
  readonly timeoutMs: number;
};

const ADDRESS = 'CADASTRE_VAULT_ADDRESS';
const ROLE = 'CADASTRE_VAULT_ROLE';
const CREDENTIAL_FILE = 'CADASTRE_VAULT_CREDENTIAL_FILE';
const KEYS = ['CADASTRE_ENCRYPTION_KEY', 'CADASTRE_ENCRYPTION_KEY_PREVIOUS'] as const;

/** Where Kubernetes mounts the token of a pod's service account. */
const POD_TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const isWrapped = (text: string | undefined): boolean => {
  const key = text === undefined ? null : parseStoredKey(text);
  return key !== null && 'wrapped' in key;
};

/** Returns one line for each setting of Vault that contradicts another one, or whose file cannot be used. */
export const findTransitContradictions = (env: EnvironmentValues): readonly string[] => {
  if (!env[ADDRESS]) {
    const wrapped = KEYS.find((name) => isWrapped(env[name]));
    return [
      ...(wrapped ? [`${ADDRESS}: missing; the wrapped key in ${wrapped} needs it`] : []),
      ...Object.keys(transitVariables)
        .filter((name) => env[name])
        .map((name) => `${name}: set, but ${ADDRESS} is missing`),
    ];
  }
  return [
    ...findLoginContradictions(env),
    ...findFileFault(
      'CADASTRE_VAULT_CA',
      env['CADASTRE_VAULT_CA'],
      'PEM certificates',
      (text) => new X509Certificate(text),
    ),
  ];
};

const findLoginContradictions = (env: EnvironmentValues): readonly string[] => {
  const method = env['CADASTRE_VAULT_AUTH'] ?? 'token';
  const reportMissing = (name: string): readonly string[] =>
    env[name] ? [] : [`${name}: missing, CADASTRE_VAULT_AUTH=${method} needs it`];
  switch (method) {
    case 'token':
      return [
        ...reportMissing(CREDENTIAL_FILE),
        ...['CADASTRE_VAULT_AUTH_MOUNT', ROLE]
          .filter((name) => env[name])
          .map((name) => `${name}: set, but CADASTRE_VAULT_AUTH=token does not use it`),
      ];
    case 'approle':
      return [...reportMissing(ROLE), ...reportMissing(CREDENTIAL_FILE)];
    case 'kubernetes':
      return reportMissing(ROLE);
    default:
      return [];
  }
};

/** Returns null if the settings describe no Vault. The settings must contain no contradictions. */
export const toTransitSettings = (env: TransitEnvironment): TransitSettings | null => {
  if (env.CADASTRE_VAULT_ADDRESS === undefined) return null;
  return {
    address: env.CADASTRE_VAULT_ADDRESS,
    caFile: env.CADASTRE_VAULT_CA === undefined ? null : resolve(env.CADASTRE_VAULT_CA),
    namespace: env.CADASTRE_VAULT_NAMESPACE ?? null,
    mount: env.CADASTRE_VAULT_TRANSIT_MOUNT,
    keyName: env.CADASTRE_VAULT_TRANSIT_KEY,
    login: toLogin(env),
    credentialFile: resolve(env.CADASTRE_VAULT_CREDENTIAL_FILE ?? POD_TOKEN_FILE),
    timeoutMs: env.CADASTRE_VAULT_TIMEOUT_SECONDS * 1_000,
  };
};

const toLogin = (env: TransitEnvironment): TransitLogin => {
  const method = env.CADASTRE_VAULT_AUTH;
  if (method === 'token') return { method };
  return { method, mount: env.CADASTRE_VAULT_AUTH_MOUNT ?? method, role: env.CADASTRE_VAULT_ROLE ?? '' };
};
