import { isIP } from 'node:net';
import { valid } from 'semver';
import { z } from 'zod';
import { isHostName, isHostOrAddress } from './host-names.js';
import { auditArchiveVariables } from './audit-archive-variables.js';
import { blobVariables } from './blob-variables.js';
import { kafkaVariables } from './kafka-variables.js';
import { limitVariables, readLimitVariables, requestVariables } from './limit-variables.js';
import { oidcVariables } from './oidc-variables.js';
import { smtpVariables } from './smtp-variables.js';
import { parseStoredKey } from './stored-key.js';
import { timeStampVariables } from './time-stamp-variables.js';
import { tracingVariables } from './tracing-variables.js';
import { transitVariables } from './transit-variables.js';
import {
  listSchema,
  matchingSchema,
  oneOfSchema,
  onOffSchema,
  defineSecretVariable,
  parseUrl,
  wholeNumberSchema,
} from './variable-schemas.js';
import { defineVariable } from './variable.js';

const isOrigin = (text: string): boolean => {
  const url = parseUrl(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
};

const isPostgresUrl = (text: string): boolean => ['postgres:', 'postgresql:'].includes(parseUrl(text)?.protocol ?? '');

const isSeconds = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= 300;

const isAssessmentInterval = (text: string): boolean =>
  text === 'off' || (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 8_760);

const isLifetime = (text: string): boolean => {
  const [, count = '', unit] = /^(\d{1,5})([yd])$/.exec(text) ?? [];
  return text === 'off' || (Number(count) >= 1 && Number(count) <= (unit === 'y' ? 100 : 36_500));
};

const parseLifetime = (text: string) => {
  if (text === 'off') return null;
  const count = Number.parseInt(text, 10);
  return text.endsWith('y') ? { years: count, days: 0 } : { years: 0, days: count };
};

/** Returns whether a text is an address or a network (RFC 4632). */
const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};

const isHostEntry = (text: string): boolean => isNetwork(text) || isHostName(text.replace(/^\*\./, ''));

const toolReleases = listSchema((text) => valid(text) === text, 'versions such as 1.2.3');
const encryptionKeySchema = z.string().transform((text, check) => {
  const key = parseStoredKey(text);
  if (key) return key;
  check.addIssue('must be 32 bytes in base64 (openssl rand -base64 32), or a key that Vault has wrapped (vault:v1:…)');
  return z.NEVER;
});
const networks = listSchema(isNetwork, 'addresses or networks such as 10.0.0.0/8');

export const settingVariables = {
  HOST: defineVariable(
    '127.0.0.1',
    'address to listen on; 0.0.0.0 or :: for all',
    matchingSchema(isHostOrAddress, 'must be an IP address or a host name').default('127.0.0.1'),
  ),
  PORT: defineVariable('8443', 'port to listen on', wholeNumberSchema(1, 65_535, 8443)),
  CADASTRE_DATA: defineVariable(
    '.cadastre',
    'folder for the data of this process; with the embedded Postgres, each process needs its own',
    z.string().default('.cadastre'),
  ),
  CADASTRE_TRAIL_WITNESSES: defineVariable(
    '–',
    'file with the witnesses that cosign the log of the site, and their quorum (C2SP tlog-policy)',
    z.string().exactOptional(),
  ),
  ...timeStampVariables,
  CADASTRE_WORKERS: defineVariable(
    '1',
    'processes that serve requests in serve; 1: everything is in one process',
    wholeNumberSchema(1, 64, 1),
  ),
  CADASTRE_EXECUTOR: defineVariable(
    'auto',
    'whether serve starts an executor of the site; auto: in new installations if this machine has a sandbox; on; off',
    oneOfSchema(['auto', 'on', 'off'], 'auto'),
  ),
  CADASTRE_TLS: defineVariable(
    'auto',
    'auto: certificates from a local CA in the data folder; off: plain HTTP, for a proxy in front',
    oneOfSchema(['auto', 'off'], 'auto'),
  ),
  CADASTRE_TLS_CERT: defineVariable(
    '–',
    'file with the certificate chain (PEM), instead of the local CA',
    z.string().exactOptional(),
  ),
  CADASTRE_TLS_KEY: defineVariable('–', 'file with the key of that certificate (PEM)', z.string().exactOptional()),
  CADASTRE_PUBLIC_URL: defineVariable(
    'https://localhost:PORT',
    'address that clients use; with http if TLS is off, and with HOST instead of localhost if HOST is an address',
    matchingSchema(isOrigin, 'must be http:// or https:// with a host and an optional port, without a path')
      .transform((text) => new URL(text).origin)
      .exactOptional(),
  ),
  CADASTRE_TRUSTED_PROXIES: defineVariable(
    '–',
    'comma-separated addresses or networks such as 10.0.0.0/8, of proxies whose X-Forwarded-For is trusted',
    networks.default([]),
  ),
  CADASTRE_OUTBOUND_PRIVATE_HOSTS: defineVariable(
    '–',
    'comma-separated host names, addresses or networks with private addresses, such as gitlab.internal, *.corp.example or ' +
      '10.1.0.0/16, to which this server may send requests that organizations configure',
    listSchema(isHostEntry, 'host names, addresses or networks such as gitlab.internal or 10.1.0.0/16').default([]),
  ),
  CADASTRE_ADMIN_TOKEN: defineSecretVariable(
    'created in the data folder',
    'first admin token, at least 20 characters',
    z.string().min(20, 'must have at least 20 characters').exactOptional(),
  ),
  DATABASE_URL: defineSecretVariable(
    'embedded Postgres',
    'postgres:// or postgresql:// URL of your Postgres; of a connection pooler only if DATABASE_DIRECT_URL is set too',
    matchingSchema(isPostgresUrl, 'must be a postgres:// or postgresql:// URL').exactOptional(),
  ),
  DATABASE_DIRECT_URL: defineSecretVariable(
    '–; DATABASE_URL has no connection pooler',
    'URL of the same database without a pooler in transaction mode, for locks, notifications, migrations and long reads',
    matchingSchema(isPostgresUrl, 'must be a postgres:// or postgresql:// URL').exactOptional(),
  ),
  ...readLimitVariables,
  ...kafkaVariables,
  ...blobVariables,
  ...auditArchiveVariables,
  CADASTRE_ENCRYPTION_KEY: defineSecretVariable(
    'created in the data folder',
    '32 bytes in base64 (openssl rand -base64 32), or a wrapped key of cadastre keys create; required with DATABASE_URL',
    encryptionKeySchema.exactOptional(),
  ),
  CADASTRE_ENCRYPTION_KEY_PREVIOUS: defineSecretVariable(
    '–',
    'the key before CADASTRE_ENCRYPTION_KEY, until cadastre keys rotate has replaced it',
    encryptionKeySchema.exactOptional(),
  ),
  ...transitVariables,
  CADASTRE_EDITION: defineVariable(
    'all',
    'self-hosted: no audit trail and no health assessments; hosted: no data retention; all: everything that is built',
    oneOfSchema(['all', 'hosted', 'self-hosted'], 'all'),
  ),
  CADASTRE_TOOL_RELEASES: defineVariable(
    '–',
    'comma-separated releases of Terraform or OpenTofu that workspaces may choose besides those built in',
    toolReleases.default([]),
  ),
  CADASTRE_ASSESSMENT_HOURS: defineVariable(
    '24',
    'hours from one health assessment of a workspace to the next; off: the site makes none',
    matchingSchema(isAssessmentInterval, 'must be a whole number from 1 to 8760, or off')
      .transform((text) => (text === 'off' ? null : Number(text)))
      .default(24),
  ),
  CADASTRE_GLOBAL_REMOTE_STATE: defineVariable(
    'false',
    'true: new workspaces share their state with their organization unless the request says otherwise',
    oneOfSchema(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
  CADASTRE_TOKEN_LIFETIME: defineVariable(
    '2y',
    'when tokens of users, teams and organizations end if their request names no end: calendar years such as 2y, days ' +
      'such as 90d, or off for never',
    matchingSchema(isLifetime, 'must be calendar years from 1y to 100y, days from 1d to 36500d, or off')
      .transform(parseLifetime)
      .default({ years: 2, days: 0 }),
  ),
  CADASTRE_SESSION_IDLE_MINUTES: defineVariable(
    '720',
    'minutes without a request after which the session of a person in a browser ends',
    wholeNumberSchema(5, 43_200, 720),
  ),
  CADASTRE_SESSION_HOURS: defineVariable(
    '168',
    'hours after which the session of a person in a browser ends, whether or not it is used',
    wholeNumberSchema(1, 8_760, 168),
  ),
  CADASTRE_REQUIRE_TWO_FACTOR: defineVariable(
    'false',
    'true: people need a second factor. A person without one sets it up after the sign-in, before anything else works',
    oneOfSchema(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
  ...oidcVariables,
  ...smtpVariables,
  CADASTRE_FEATURE_SET: defineVariable(
    'everything',
    'feature set of new organizations: everything or free',
    oneOfSchema(['everything', 'free'], 'everything'),
  ),
  CADASTRE_RETENTION_CHECK_MINUTES: defineVariable(
    '60',
    'interval of the job that applies data retention policies, in minutes',
    wholeNumberSchema(1, 1_440, 60),
  ),
  CADASTRE_SOFT_DELETED_DAYS: defineVariable(
    '30',
    'days after which soft-deleted data of state versions and configuration versions is deleted permanently',
    wholeNumberSchema(1, 36_500, 30),
  ),
  CADASTRE_RECOVERABLE_DAYS: defineVariable(
    '30',
    'days for which deleted resources can be recovered; 0: deletions are final',
    wholeNumberSchema(0, 3_650, 30),
  ),
  ...requestVariables,
  CADASTRE_AUDIT_CLIENT_DETAILS: defineVariable(
    'on',
    'off: entries of the audit trail do not show the address and the program that a request came from',
    onOffSchema('on'),
  ),
  ...limitVariables,
  CADASTRE_REQUEST_LOG: defineVariable(
    'on',
    'off: no line in the log for each request; on: one at level info',
    onOffSchema('on'),
  ),
  CADASTRE_SHUTDOWN_DELAY_SECONDS: defineVariable(
    '5 for gateway, else 0',
    'how long a process that is stopping still serves requests, while /readyz answers 503, in seconds',
    matchingSchema(isSeconds, 'must be a whole number from 0 to 300').transform(Number).exactOptional(),
  ),
  ...tracingVariables,
  LOG_LEVEL: defineVariable(
    'info',
    'trace, debug, info, warn, error, fatal or silent',
    oneOfSchema(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
  ),
} as const;

type EnvironmentShape = {
  -readonly [Name in keyof typeof settingVariables]: (typeof settingVariables)[Name]['schema'];
};

export const environment = z.object(
  Object.fromEntries(Object.entries(settingVariables).map(([name, { schema }]) => [name, schema])) as EnvironmentShape,
);

export const secretNames: readonly string[] = Object.entries(settingVariables)
  .filter(([, { secret }]) => secret)
  .map(([name]) => name);
