import { z } from 'zod';
import { isSecureAddress } from '#platform/kernel';
import { matchingSchema, oneOfSchema, wholeNumberSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

const MAX_ADDRESS = 500;
const MAX_TEXT = 255;

const SEGMENT = /^(?!\.{1,2}$)[\w.-]+$/;
const isPath = (text: string): boolean =>
  text.length <= MAX_TEXT && text.split('/').every((segment) => SEGMENT.test(segment));

const pathSchema = matchingSchema(
  isPath,
  `must be names of letters, digits, dots, underscores and hyphens, joined by slashes, at most ${MAX_TEXT} characters`,
);
const nameSchema = matchingSchema(
  (text) => text.length <= MAX_TEXT && SEGMENT.test(text),
  `must be letters, digits, dots, underscores and hyphens, at most ${MAX_TEXT} characters`,
);

/** Variables of the Vault or OpenBao whose transit engine wraps the encryption key. */
export const transitVariables = {
  CADASTRE_VAULT_ADDRESS: defineVariable(
    '–',
    'address of the Vault or OpenBao that unwraps the encryption key when a process starts, such as https://vault.example.com:8200',
    matchingSchema(
      (text) => text.length <= MAX_ADDRESS && isSecureAddress(text),
      'must be https:// with a host, without user, password or query; http:// only for a loopback address',
    )
      .transform((text) => text.replace(/\/+$/, ''))
      .exactOptional(),
  ),
  CADASTRE_VAULT_CA: defineVariable(
    'authorities that Node trusts',
    "file with the certificates of the authorities that sign Vault's certificate (PEM)",
    z.string().exactOptional(),
  ),
  CADASTRE_VAULT_NAMESPACE: defineVariable('–', 'namespace in Vault', pathSchema.exactOptional()),
  CADASTRE_VAULT_TRANSIT_MOUNT: defineVariable(
    'transit',
    'where the transit engine is mounted',
    pathSchema.default('transit'),
  ),
  CADASTRE_VAULT_TRANSIT_KEY: defineVariable(
    'cadastre',
    'key of the transit engine that wraps the encryption key',
    nameSchema.default('cadastre'),
  ),
  CADASTRE_VAULT_SIGNING_KEY: defineVariable(
    '–; keys in the database sign',
    'key of the transit engine, of the type ed25519, that signs the checkpoints of audit trails',
    nameSchema.exactOptional(),
  ),
  CADASTRE_VAULT_AUTH: defineVariable(
    'token',
    'how processes log in to Vault: token, approle, or kubernetes (also for auth methods of the type jwt)',
    oneOfSchema(['token', 'approle', 'kubernetes'], 'token'),
  ),
  CADASTRE_VAULT_AUTH_MOUNT: defineVariable(
    'as CADASTRE_VAULT_AUTH',
    'where the auth method is mounted',
    pathSchema.exactOptional(),
  ),
  CADASTRE_VAULT_ROLE: defineVariable('–', 'role id of approle, or role of kubernetes', nameSchema.exactOptional()),
  CADASTRE_VAULT_CREDENTIAL_FILE: defineVariable(
    "–; kubernetes: the pod's token",
    'file with the token, the secret id of approle, or the JWT of the service account; read again for each login',
    z.string().exactOptional(),
  ),
  CADASTRE_VAULT_TIMEOUT_SECONDS: defineVariable(
    '5',
    'seconds after which a request to Vault fails',
    wholeNumberSchema(1, 60, 5),
  ),
} as const;
