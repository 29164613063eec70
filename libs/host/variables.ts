import { isIP } from 'node:net';
import { valid } from 'semver';
import { z } from 'zod';
import { isHost, isLoopback } from './host-names.js';
import { limitVariables } from './limit-variables.js';
import { variable, type Variable } from './variable.js';

const secretVariable = <S extends z.ZodType>(otherwise: string, meaning: string, schema: S): Variable<S> => ({
  ...variable(otherwise, meaning, schema),
  secret: true,
});

const oneOf = <const T extends readonly [string, ...string[]]>(values: T, otherwise: T[number]) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(otherwise as never);

const matching = (ok: (text: string) => boolean, message: string) => z.string().refine(ok, message);

const urlOf = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

const isOrigin = (text: string): boolean => {
  const url = urlOf(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password;
};

/** An origin, perhaps with a path; what is secret goes elsewhere. */
const isEndpoint = (text: string): boolean => {
  const url = urlOf(text);
  return (
    !!url &&
    ['http:', 'https:'].includes(url.protocol) &&
    ![url.search, url.hash, url.username, url.password].some((part) => part !== '')
  );
};

/** The client's secret goes there, so that plain HTTP must not leave the machine. */
const isTokenUrl = (text: string): boolean => {
  const url = urlOf(text);
  return isEndpoint(text) && !!url && (url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
};

const SASL_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;

const isPostgresUrl = (text: string): boolean => ['postgres:', 'postgresql:'].includes(urlOf(text)?.protocol ?? '');

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** A whole number within bounds. */
const wholeNumber = (least: number, most: number, otherwise: number) =>
  matching(
    (text) => /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most,
    `must be a whole number from ${least} to ${most}`,
  )
    .transform(Number)
    .default(otherwise);

const isMinutes = (text: string): boolean => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= 1_440;

const isSeconds = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= 300;

const isMebibytes = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_536;

const isInlineMebibytes = (text: string): boolean => isMebibytes(text) && Number(text) <= 100;

const isCount = (text: string, least: number): boolean => /^\d{1,9}$/.test(text) && Number(text) >= least;

const count = (otherwise: number, meaning: string, least = 1) =>
  variable(
    String(otherwise),
    meaning,
    matching((text) => isCount(text, least), `must be a whole number from ${least} to 999999999`)
      .transform(Number)
      .default(otherwise),
  );

const isLifetime = (text: string): boolean => {
  const [, count = '', unit] = /^(\d{1,5})([yd])$/.exec(text) ?? [];
  return text === 'off' || (Number(count) >= 1 && Number(count) <= (unit === 'y' ? 100 : 36_500));
};

const lifetimeOf = (text: string) => {
  if (text === 'off') return null;
  const count = Number.parseInt(text, 10);
  return text.endsWith('y') ? { years: count, days: 0 } : { years: 0, days: count };
};

/** One request can have 1000 facts; a lower limit would never accept it. */
const isFactsLimit = (text: string): boolean =>
  text === 'off' || (/^\d{4,7}$/.test(text) && Number(text) >= 1_000 && Number(text) <= 1_000_000);

const isBroker = (text: string): boolean => {
  const [, host = '', port = ''] = /^(?:\[?)(.+?)(?:\]?):(\d+)$/.exec(text) ?? [];
  return isHost(host) && isPort(port);
};

/** An address, or a block of them as RFC 4632 writes it. */
const isAddressBlock = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};

const listOf = (isEntry: (text: string) => boolean, what: string) =>
  z.string().transform((list, check) => {
    const entries = list.split(',').map((entry) => entry.trim());
    entries.forEach((entry, index) => {
      if (!isEntry(entry)) check.addIssue(`must be a comma-separated list of ${what}; number ${index + 1} is not one`);
    });
    return entries;
  });

const brokers = listOf(isBroker, 'host:port');
const toolReleases = listOf((text) => valid(text) === text, 'versions such as 1.2.3');
const addressBlocks = listOf(isAddressBlock, 'addresses, or blocks of them such as 10.0.0.0/8');

export const variables = {
  HOST: variable(
    '127.0.0.1',
    'address to listen on; 0.0.0.0 or :: for all',
    matching(isHost, 'must be an IP address or a host name').default('127.0.0.1'),
  ),
  PORT: variable(
    '8443',
    'port to listen on',
    matching(isPort, 'must be a whole number from 1 to 65535').transform(Number).default(8443),
  ),
  CADASTRE_DATA: variable(
    '.cadastre',
    'folder for everything this process keeps; with the embedded Postgres one process a folder',
    z.string().default('.cadastre'),
  ),
  CADASTRE_TLS: variable(
    'auto',
    'auto: certificates from a local CA, kept in the data folder; off: plain HTTP, for a proxy in front',
    oneOf(['auto', 'off'], 'auto'),
  ),
  CADASTRE_TLS_CERT: variable(
    '–',
    'file with the certificate chain (PEM), instead of the local CA',
    z.string().exactOptional(),
  ),
  CADASTRE_TLS_KEY: variable('–', 'file with the key of that certificate (PEM)', z.string().exactOptional()),
  CADASTRE_PUBLIC_URL: variable(
    'https://localhost:PORT',
    'address under which clients reach it; http when TLS is off, HOST in place of localhost when that is an address',
    matching(isOrigin, 'must be http:// or https:// with a host and perhaps a port, nothing after')
      .transform((text) => new URL(text).origin)
      .exactOptional(),
  ),
  CADASTRE_TRUSTED_PROXIES: variable(
    '–',
    'comma-separated addresses, or blocks such as 10.0.0.0/8, of proxies whose X-Forwarded-For is believed',
    addressBlocks.default([]),
  ),
  CADASTRE_ADMIN_TOKEN: secretVariable(
    'made, printed once',
    'first admin token, at least 20 characters',
    z.string().min(20, 'must have at least 20 characters').exactOptional(),
  ),
  DATABASE_URL: secretVariable(
    'embedded Postgres',
    'postgres:// or postgresql:// URL of a Postgres of yours',
    matching(isPostgresUrl, 'must be a postgres:// or postgresql:// URL').exactOptional(),
  ),
  CADASTRE_READ_TIMEOUT_SECONDS: variable(
    '5',
    'after so many seconds Postgres cancels an ordinary read, and its request is answered with 503',
    wholeNumber(1, 600, 5),
  ),
  CADASTRE_SLOW_READ_TIMEOUT_SECONDS: variable(
    '15',
    'the same for slow reads: lists, searches, exports, reads of the past',
    wholeNumber(1, 600, 15),
  ),
  CADASTRE_SLOW_CONNECTIONS: variable(
    '4',
    'connections of each process to Postgres for slow reads; each runs one at a time',
    wholeNumber(2, 100, 4),
  ),
  CADASTRE_SLOW_READS_PER_CALLER: variable(
    '2',
    'slow reads of one caller that run at the same time; fewer than CADASTRE_SLOW_CONNECTIONS',
    wholeNumber(1, 99, 2),
  ),
  KAFKA_BROKERS: variable(
    '–',
    'comma-separated list of host:port; nothing is published without',
    brokers.exactOptional(),
  ),
  KAFKA_TLS: variable(
    'off',
    'on: connections to the brokers use TLS',
    oneOf(['on', 'off'], 'off').transform((text) => text === 'on'),
  ),
  KAFKA_TLS_CA: variable(
    'authorities that Node trusts',
    'file with the certificates of the authorities that may sign those of the brokers (PEM)',
    z.string().exactOptional(),
  ),
  KAFKA_TLS_CERT: variable(
    '–',
    'file with the client certificate for the brokers, and its chain (PEM)',
    z.string().exactOptional(),
  ),
  KAFKA_TLS_KEY: variable(
    '–',
    'file with the key of that certificate (PEM, without a passphrase)',
    z.string().exactOptional(),
  ),
  KAFKA_SASL_MECHANISM: variable(
    '–',
    'PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; without it connections do not authenticate',
    z.enum(SASL_MECHANISMS, `must be one of ${SASL_MECHANISMS.join(', ')}`).exactOptional(),
  ),
  KAFKA_SASL_USERNAME: variable('–', 'user of PLAIN and SCRAM', z.string().exactOptional()),
  KAFKA_SASL_PASSWORD: secretVariable('–', 'password of PLAIN and SCRAM', z.string().exactOptional()),
  KAFKA_SASL_TOKEN_URL: variable(
    '–',
    'address of the OAuth 2.0 token endpoint for OAUTHBEARER',
    matching(
      isTokenUrl,
      'must be https:// with a host, without user, password or query; http:// only for a loopback address',
    ).exactOptional(),
  ),
  KAFKA_SASL_CLIENT_ID: variable('–', 'client for the token endpoint (client credentials)', z.string().exactOptional()),
  KAFKA_SASL_CLIENT_SECRET: secretVariable('–', 'secret of that client', z.string().exactOptional()),
  KAFKA_SASL_SCOPE: variable('–', 'scopes of the token, separated by spaces', z.string().exactOptional()),
  CADASTRE_TOPIC_PREFIX: variable(
    'cadastre',
    'what the names of all Kafka topics begin with',
    z
      .string()
      // Kafka allows 249 characters in all, and a suffix is to come.
      .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/, 'must be letters, digits, dots, underscores and hyphens')
      .default('cadastre'),
  ),
  CADASTRE_BLOBS: variable(
    'CADASTRE_DATA/blobs',
    'folder for states and configurations, encrypted, and for what is published',
    z.string().exactOptional(),
  ),
  CADASTRE_S3_BUCKET: variable(
    '–',
    'bucket for the same, in place of a folder; credentials as AWS tools find them (AWS_ACCESS_KEY_ID, …)',
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
        'must be 3 to 63 letters, digits, dots, hyphens and underscores',
      )
      .exactOptional(),
  ),
  CADASTRE_S3_ENDPOINT: variable(
    "Amazon's",
    'address of another store that speaks S3',
    matching(isEndpoint, 'must be http:// or https:// with a host, without user, password or query').exactOptional(),
  ),
  CADASTRE_S3_REGION: variable(
    'AWS_REGION, with an endpoint us-east-1',
    'region of the bucket',
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,63}$/, 'must be letters, digits and hyphens')
      .exactOptional(),
  ),
  CADASTRE_S3_PREFIX: variable(
    '–',
    'what the keys of all objects begin with, such as cadastre or team/cadastre',
    z
      .string()
      .regex(
        /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\/?$/,
        'must be names of letters, digits, dots, underscores and hyphens, joined by slashes',
      )
      .transform((text) => text.replace(/\/$/, ''))
      .exactOptional(),
  ),
  CADASTRE_S3_PATH_STYLE: variable(
    'false',
    'true: addresses name the bucket in their path, not in their host; many stores other than Amazon want it',
    oneOf(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
  CADASTRE_ENCRYPTION_KEY: secretVariable(
    'made, kept in the data folder',
    '32 bytes in base64 (openssl rand -base64 32); required with DATABASE_URL',
    z
      .string()
      .regex(/^[A-Za-z0-9+/]{43}=$/, 'must be 32 bytes in base64 (openssl rand -base64 32)')
      .transform((text) => Buffer.from(text, 'base64'))
      .exactOptional(),
  ),
  CADASTRE_EDITION: variable(
    'all',
    'self-hosted: no audit trail and no health assessments; hosted: no data retention; all: everything that is built',
    oneOf(['all', 'hosted', 'self-hosted'], 'all'),
  ),
  CADASTRE_TOOL_RELEASES: variable(
    '–',
    'comma-separated releases of Terraform or OpenTofu that workspaces may choose besides those built in',
    toolReleases.default([]),
  ),
  CADASTRE_GLOBAL_REMOTE_STATE: variable(
    'false',
    'true: new workspaces share their state with their organization where the request does not say',
    oneOf(['true', 'false'], 'false').transform((text) => text === 'true'),
  ),
  CADASTRE_TOKEN_LIFETIME: variable(
    '2y',
    'when tokens of users, teams and organizations end if their request names no end: calendar years such as 2y, days ' +
      'such as 90d, or off for never',
    matching(isLifetime, 'must be calendar years from 1y to 100y, days from 1d to 36500d, or off')
      .transform(lifetimeOf)
      .default({ years: 2, days: 0 }),
  ),
  CADASTRE_FEATURE_SET: variable(
    'everything',
    'what a new organization starts with: everything or free',
    oneOf(['everything', 'free'], 'everything'),
  ),
  CADASTRE_RETENTION_CHECK_MINUTES: variable(
    '60',
    'how often data retention policies are kept to, in minutes',
    matching(isMinutes, 'must be a whole number from 1 to 1440').transform(Number).default(60),
  ),
  CADASTRE_INLINE_STATE_MAX_MIB: variable(
    '10',
    'the largest state within a request that creates a state version, in MiB; larger states use the signed upload',
    matching(isInlineMebibytes, 'must be a whole number from 1 to 100').transform(Number).default(10),
  ),
  CADASTRE_PROVIDER_MAX_MIB: variable(
    '1024',
    'the largest zip of a provider that may be uploaded, in MiB',
    matching(isMebibytes, 'must be a whole number from 1 to 65536').transform(Number).default(1_024),
  ),
  CADASTRE_MAX_CONNECTIONS: count(1_000, 'most connections of one gateway; more get 503'),
  CADASTRE_MAX_CONNECTIONS_PER_ADDRESS: count(
    500,
    'most connections from one address; CADASTRE_TRUSTED_PROXIES are not limited',
  ),
  CADASTRE_REQUEST_TIMEOUT_SECONDS: count(30, 'time for the body of a request to arrive; uploads have a rate instead'),
  CADASTRE_UPLOAD_MIN_RATE: count(1_024, 'slowest upload of a file, in bytes a second, on average over 30 seconds'),
  CADASTRE_BODY_MEMORY_MIB: count(
    64,
    'most memory of all JSON bodies that are being received, in MiB; at least one request with the largest states',
    2,
  ),
  CADASTRE_BODY_MEMORY_PER_CALLER_MIB: count(32, 'the same for one caller, in MiB', 2),
  CADASTRE_FACTS_LIMIT: variable(
    '2000',
    'facts that an organization can report in ten seconds, by REST and Kafka together, at least 1000; or off',
    matching(isFactsLimit, 'must be a whole number from 1000 to 1000000, or off')
      .transform((text) => (text === 'off' ? null : Number(text)))
      .default(2_000),
  ),
  CADASTRE_AUDIT_CLIENT_DETAILS: variable(
    'on',
    'off: entries of the audit trail do not show the address and the program that a request came from',
    oneOf(['on', 'off'], 'on').transform((text) => text === 'on'),
  ),
  ...limitVariables,
  CADASTRE_REQUEST_LOG: variable(
    'on',
    'off: no line in the log for each request; on: one at level info',
    oneOf(['on', 'off'], 'on').transform((text) => text === 'on'),
  ),
  CADASTRE_SHUTDOWN_DELAY_SECONDS: variable(
    '5 for gateway, else 0',
    'how long a process that is stopping still serves requests, while /readyz answers 503, in seconds',
    matching(isSeconds, 'must be a whole number from 0 to 300').transform(Number).exactOptional(),
  ),
  LOG_LEVEL: variable(
    'info',
    'trace, debug, info, warn, error, fatal or silent',
    oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
  ),
} as const;

type Shape = { -readonly [Name in keyof typeof variables]: (typeof variables)[Name]['schema'] };

export const environment = z.object(
  Object.fromEntries(Object.entries(variables).map(([name, { schema }]) => [name, schema])) as Shape,
);

/** The names of the variables that hold secrets. */
export const secretNames: readonly string[] = Object.entries(variables)
  .filter(([, { secret }]) => secret)
  .map(([name]) => name);
