import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { OrganizationCreation, Quotas } from '#platform/kernel';
import type { TracingOptions } from '#platform/tracing';
import { isLoopback, isWildcard } from './host-names.js';
import { findKafkaContradictions, toKafkaSettings, type KafkaSettings } from './kafka-settings.js';
import { findOidcContradictions, toOidcSettings, type OidcSettings } from './oidc-settings.js';
import { redactSecrets } from './redact-secrets.js';
import { findSmtpContradictions, toSmtpSettings, type SmtpSettings } from './smtp-settings.js';
import type { StoredKey } from './stored-key.js';
import { toTracingSettings } from './tracing-settings.js';
import { findTransitContradictions, toTransitSettings, type TransitSettings } from './transit-settings.js';
import { toFileVariable, resolveSecretFiles, type EnvironmentValues } from './secret-files.js';
import { environment, secretNames, settingVariables } from './variables.js';

type ParsedEnvironment = z.output<typeof environment>;

export type Settings = {
  readonly host: string;
  readonly port: number;
  /** Absolute path. */
  readonly dataFolder: string;
  /** Number of processes of `serve` that serve requests. With 1, everything is in one process. */
  readonly workers: number;
  readonly tls:
    | { readonly mode: 'auto' }
    | { readonly mode: 'off' }
    /** Absolute paths of PEM files. */
    | { readonly mode: 'files'; readonly cert: string; readonly key: string };
  /** An origin: scheme, host and, unless it is the scheme's default, port; without a trailing slash. */
  readonly publicUrl: string;
  /** Addresses and networks. `X-Forwarded-For` of other clients is ignored. */
  readonly trustedProxies: readonly string[];
  /** Host names, addresses and networks with private addresses that organizations may let this server call. */
  readonly outboundPrivateHosts: readonly string[];
  readonly adminToken: string | null;
  readonly database: { readonly mode: 'embedded' } | { readonly mode: 'url'; readonly url: string };
  /** Milliseconds after which Postgres cancels a read of a request; `slowReadTimeoutMs` applies to slow reads. */
  readonly readTimeoutMs: number;
  readonly slowReadTimeoutMs: number;
  readonly slowConnections: number;
  readonly slowReadsPerCaller: number;
  /** Null if Kafka is not configured: nothing is published, and the log keeps everything for later publication. */
  readonly kafka: KafkaSettings | null;
  /** Absolute path. Not used if `s3` is set. */
  readonly blobsFolder: string;
  /** Null if blobs are stored in the folder. */
  readonly s3: {
    readonly bucket: string;
    /** Null for Amazon S3. */
    readonly endpoint: string | null;
    /** Null for the region of AWS's own settings. */
    readonly region: string | null;
    /** Without a slash at the end. */
    readonly prefix: string;
    readonly pathStyle: boolean;
  } | null;
  /** Null is possible only with the embedded database: a key is then created in the data folder. */
  readonly encryptionKey: StoredKey | null;
  /** The key before the current one, while the operator rotates keys; null otherwise. */
  readonly previousEncryptionKey: StoredKey | null;
  /** The service that unwraps wrapped keys; null if keys are not wrapped. */
  readonly transit: TransitSettings | null;
  readonly edition: ParsedEnvironment['CADASTRE_EDITION'];
  readonly featureSet: ParsedEnvironment['CADASTRE_FEATURE_SET'];
  /** Versions of Terraform or OpenTofu that workspaces may choose, in addition to those built in. */
  readonly toolReleases: readonly string[];
  /** Default for new workspaces. */
  readonly globalRemoteState: boolean;
  /** Lifetime of tokens whose request contains no expiry time; null if they do not expire. */
  readonly tokenLifetime: { readonly years: number; readonly days: number } | null;
  /** Minutes without a request, and hours in total, after which a person's session ends. */
  readonly sessions: { readonly idleMinutes: number; readonly hours: number };
  /** Whether the site requires a second factor of everybody. */
  readonly requiresTwoFactor: boolean;
  /** Null if the settings describe no identity provider. The API can add others. */
  readonly oidc: OidcSettings | null;
  /** Null if no mail server is configured: notifications cannot be sent by e-mail. */
  readonly smtp: SmtpSettings | null;
  /** Milliseconds between two runs of the job that applies data retention policies. */
  readonly retentionCheckMs: number;
  /** Days after which soft-deleted files are deleted permanently. */
  readonly softDeletedDays: number;
  /** Bytes of the largest state inside a request. */
  readonly inlineStateLimit: number;
  /** Bytes of the largest accepted zip of a provider. */
  readonly providerArchiveLimit: number;
  /** Limits of the HTTP server that are settings. It has further limits. */
  readonly http: {
    readonly connections: number;
    readonly connectionsPerAddress: number;
    readonly bodyMs: number;
    readonly uploadBytesPerSecond: number;
    /** In bytes. */
    readonly bodyMemory: { readonly total: number; readonly perCaller: number };
    /** Requests that a gateway works on at the same time; null for no limit. Times are in milliseconds. */
    readonly unanswered: { readonly max: number; readonly targetMs: number; readonly waitMs: number } | null;
  };
  /** Open live streams of one gateway, and of one caller on it. */
  readonly liveStreams: { readonly total: number; readonly perCaller: number };
  /** Bytes of the documents that a gateway keeps in memory; null to keep none. */
  readonly documentCacheBytes: number | null;
  /** Facts that an organization can report in ten seconds; null for no limit. */
  readonly factsLimit: number | null;
  /** Whether audit entries show the address and the user agent of a request. */
  readonly auditClientDetails: boolean;
  /** Null for no limit. */
  readonly limits: {
    /** Requests per second. */
    readonly perToken: number | null;
    /** Requests per second without a valid token. */
    readonly perAddress: number | null;
    /** Requests with a wrong token per minute and address. */
    readonly wrongTokens: number | null;
    /** Created tokens and changes of a user's own account, per second and caller. */
    readonly accessChanges: number | null;
  };
  readonly quotas: Quotas;
  readonly organizationCreation: OrganizationCreation;
  /** Unexpired tokens of a team that its workload identities can have issued. */
  readonly workloadTokensPerTeam: number;
  /** Whether each request is logged at level `info`. */
  readonly requestLog: boolean;
  /** Null if traces are not recorded. */
  readonly tracing: TracingOptions | null;
  /** Milliseconds for which requests are still served after the signal to stop; null for the default of the process. */
  readonly shutdownDelayMs: number | null;
  readonly logLevel: ParsedEnvironment['LOG_LEVEL'];
};

/** Thrown with one line for every invalid setting. The lines contain no secrets. */
export class InvalidSettingsError extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'BadSettings';
  }
}

type ParsedSettings = {
  /** Invalid settings have their default value here. */
  readonly settings: Settings;
  readonly lines: readonly string[];
  /** Names of the variables with an invalid value. */
  readonly invalid: ReadonlySet<string>;
};

/** Parses the environment without checking the machine, which `inspectMachine` does. */
export const parseSettings = (env: EnvironmentValues): ParsedSettings => {
  // Compose files and charts pass `${VAR:-}`, so an empty variable counts as absent.
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const { values, lines: fileLines } = resolveSecretFiles(present);
  const { success, data, error } = environment.safeParse(values);
  const issues = error?.issues ?? [];
  const invalid = new Set(issues.map(({ path }) => String(path[0])));
  const valid = success
    ? data
    : environment.parse(Object.fromEntries(Object.entries(values).filter(([name]) => !invalid.has(name))));
  return {
    settings: toSettings(valid),
    lines: [
      ...fileLines,
      ...issues.map(({ path, message }) => describeIssue(String(path[0]), message, present)),
      ...findContradictions(values),
    ],
    invalid,
  };
};

/** Returns the settings. Throws InvalidSettingsError with every invalid setting. */
export const readSettings = (env: EnvironmentValues): Settings => {
  const { settings, lines } = parseSettings(env);
  if (lines.length > 0) throw new InvalidSettingsError(lines);
  return settings;
};

const MAX_VALUE_LENGTH = 100;

/** Describes what the setting accepts and, unless it is a secret, its value. */
const describeIssue = (name: string, accepted: string, present: EnvironmentValues): string => {
  if (secretNames.includes(name)) {
    const source = present[name] === undefined ? toFileVariable(name) : name;
    return `${source}: ${accepted}`;
  }
  const value = withoutCredentials(present[name] ?? '');
  const shortened = value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}…` : value;
  return `${name}: ${accepted}, got ${JSON.stringify(shortened)}`;
};

/** Addresses are no secrets, but some operators include a user and password. */
const withoutCredentials = (value: string): string => redactSecrets(value).replaceAll(/[^\s,/@]+@/g, '[redacted]@');

/**
 * Returns contradictions between settings. They are reported together with invalid values, so that one attempt shows
 * all mistakes.
 */
const findContradictions = (env: EnvironmentValues): readonly string[] => {
  const lines = [
    ...findTlsContradictions(env['CADASTRE_TLS'], env['CADASTRE_TLS_CERT'], env['CADASTRE_TLS_KEY']),
    ...findKafkaContradictions(env),
    ...findOidcContradictions(env),
    ...findSmtpContradictions(env),
    ...findBlobContradictions(env),
    ...findSlowReadContradictions(env),
    ...findKeyContradictions(env),
    ...findTransitContradictions(env),
  ];
  if (!env['DATABASE_URL'] || env['CADASTRE_ENCRYPTION_KEY']) return lines;
  const missing = 'missing; with DATABASE_URL every process needs the same one (openssl rand -base64 32)';
  return [...lines, `CADASTRE_ENCRYPTION_KEY: ${missing}`];
};

const findKeyContradictions = (env: EnvironmentValues): readonly string[] => {
  const previous = env['CADASTRE_ENCRYPTION_KEY_PREVIOUS'];
  return previous && previous === env['CADASTRE_ENCRYPTION_KEY']
    ? ['CADASTRE_ENCRYPTION_KEY_PREVIOUS: the same as CADASTRE_ENCRYPTION_KEY; set the key before it, or remove it']
    : [];
};

const findTlsContradictions = (mode?: string, cert?: string, key?: string): readonly string[] => {
  const lines: string[] = [];
  if (cert && !key) lines.push('CADASTRE_TLS_KEY: missing, CADASTRE_TLS_CERT needs it');
  if (key && !cert) lines.push('CADASTRE_TLS_CERT: missing, CADASTRE_TLS_KEY needs it');
  if (mode === 'off' && (cert || key)) {
    lines.push('CADASTRE_TLS: off, but CADASTRE_TLS_CERT or CADASTRE_TLS_KEY is set; remove one of them');
  }
  return lines;
};

const BUCKET_VARIABLES = [
  'CADASTRE_S3_ENDPOINT',
  'CADASTRE_S3_REGION',
  'CADASTRE_S3_PREFIX',
  'CADASTRE_S3_PATH_STYLE',
] as const satisfies readonly (keyof ParsedEnvironment)[];

const findBlobContradictions = (env: EnvironmentValues): readonly string[] => {
  if (!env['CADASTRE_S3_BUCKET']) {
    return BUCKET_VARIABLES.filter((name) => env[name]).map(
      (name) => `${name}: set, but CADASTRE_S3_BUCKET is missing`,
    );
  }
  return env['CADASTRE_BLOBS'] ? ['CADASTRE_BLOBS: CADASTRE_S3_BUCKET is set too; remove one of the two'] : [];
};

const findSlowReadContradictions = (env: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const connections = Number(env['CADASTRE_SLOW_CONNECTIONS'] ?? settingVariables.CADASTRE_SLOW_CONNECTIONS.otherwise);
  const perCaller = Number(
    env['CADASTRE_SLOW_READS_PER_CALLER'] ?? settingVariables.CADASTRE_SLOW_READS_PER_CALLER.otherwise,
  );
  return perCaller < connections || connections < 2
    ? []
    : ['CADASTRE_SLOW_READS_PER_CALLER: must be less than CADASTRE_SLOW_CONNECTIONS, or one caller delays all others'];
};

/**
 * Returns MiB that exceed a request with both files of the largest state, in Base64 with line breaks. The memory for
 * bodies must not be smaller.
 */
const computeMaxJsonMib = (env: ParsedEnvironment): number => 3 * env.CADASTRE_INLINE_STATE_MAX_MIB + 1;

const toHttpLimits = (env: ParsedEnvironment): Settings['http'] => ({
  connections: env.CADASTRE_MAX_CONNECTIONS,
  connectionsPerAddress: env.CADASTRE_MAX_CONNECTIONS_PER_ADDRESS,
  bodyMs: env.CADASTRE_REQUEST_TIMEOUT_SECONDS * 1_000,
  uploadBytesPerSecond: env.CADASTRE_UPLOAD_MIN_RATE,
  bodyMemory: {
    total: Math.max(env.CADASTRE_BODY_MEMORY_MIB, computeMaxJsonMib(env)) * 1_024 * 1_024,
    perCaller: Math.max(env.CADASTRE_BODY_MEMORY_PER_CALLER_MIB, computeMaxJsonMib(env)) * 1_024 * 1_024,
  },
  unanswered:
    env.CADASTRE_MAX_UNANSWERED_REQUESTS === null
      ? null
      : {
          max: env.CADASTRE_MAX_UNANSWERED_REQUESTS,
          targetMs: env.CADASTRE_STATEMENT_TARGET_MS,
          waitMs: env.CADASTRE_MAX_WAIT_MS,
        },
});

/** Each stream takes a connection. The other half of the connections stays free for requests. */
const toLiveStreams = (env: ParsedEnvironment): Settings['liveStreams'] => ({
  total: Math.min(env.CADASTRE_MAX_LIVE_STREAMS, Math.max(1, Math.floor(env.CADASTRE_MAX_CONNECTIONS / 2))),
  perCaller: env.CADASTRE_MAX_LIVE_STREAMS_PER_CALLER,
});

const toReadSettings = (env: ParsedEnvironment) => ({
  readTimeoutMs: env.CADASTRE_READ_TIMEOUT_SECONDS * 1_000,
  slowReadTimeoutMs: env.CADASTRE_SLOW_READ_TIMEOUT_SECONDS * 1_000,
  slowConnections: env.CADASTRE_SLOW_CONNECTIONS,
  slowReadsPerCaller: env.CADASTRE_SLOW_READS_PER_CALLER,
  documentCacheBytes: env.CADASTRE_DOCUMENT_CACHE_MIB === null ? null : env.CADASTRE_DOCUMENT_CACHE_MIB * 1_024 * 1_024,
});

const toKeySettings = (
  env: ParsedEnvironment,
): Pick<Settings, 'encryptionKey' | 'previousEncryptionKey' | 'transit'> => ({
  encryptionKey: env.CADASTRE_ENCRYPTION_KEY ?? null,
  previousEncryptionKey: env.CADASTRE_ENCRYPTION_KEY_PREVIOUS ?? null,
  transit: toTransitSettings(env),
});

const toSignInSettings = (
  env: ParsedEnvironment,
): Pick<Settings, 'tokenLifetime' | 'sessions' | 'requiresTwoFactor' | 'oidc'> => ({
  tokenLifetime: env.CADASTRE_TOKEN_LIFETIME,
  sessions: { idleMinutes: env.CADASTRE_SESSION_IDLE_MINUTES, hours: env.CADASTRE_SESSION_HOURS },
  requiresTwoFactor: env.CADASTRE_REQUIRE_TWO_FACTOR,
  oidc: toOidcSettings(env),
});

const toRateLimits = (env: ParsedEnvironment): Settings['limits'] => ({
  perToken: env.CADASTRE_RATE_LIMIT,
  perAddress: env.CADASTRE_ADDRESS_RATE_LIMIT,
  wrongTokens: env.CADASTRE_WRONG_TOKEN_LIMIT,
  accessChanges: env.CADASTRE_ACCESS_CHANGE_LIMIT,
});

const toQuotas = (env: ParsedEnvironment): Quotas => ({
  organizationsPerUser: env.CADASTRE_MAX_ORGANIZATIONS_PER_USER,
  users: env.CADASTRE_MAX_USERS,
  invitationsPerOrganization: env.CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION,
  invitationsPerCaller: env.CADASTRE_MAX_INVITATIONS_PER_CALLER,
  tokensPerOwner: env.CADASTRE_MAX_TOKENS_PER_OWNER,
});

const toCallerLimits = (env: ParsedEnvironment) => ({
  factsLimit: env.CADASTRE_FACTS_LIMIT,
  limits: toRateLimits(env),
  quotas: toQuotas(env),
  organizationCreation: { creators: env.CADASTRE_ORGANIZATION_CREATORS },
  workloadTokensPerTeam: env.CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM,
});

const toSettings = (env: ParsedEnvironment): Settings => {
  const dataFolder = resolve(env.CADASTRE_DATA);
  const tls = toTlsSettings(env);
  return {
    host: env.HOST,
    port: env.PORT,
    dataFolder,
    workers: env.CADASTRE_WORKERS,
    tls,
    publicUrl: env.CADASTRE_PUBLIC_URL ?? buildDefaultPublicUrl(env, tls.mode === 'off' ? 'http' : 'https'),
    trustedProxies: env.CADASTRE_TRUSTED_PROXIES,
    outboundPrivateHosts: env.CADASTRE_OUTBOUND_PRIVATE_HOSTS,
    adminToken: env.CADASTRE_ADMIN_TOKEN ?? null,
    database: env.DATABASE_URL === undefined ? { mode: 'embedded' } : { mode: 'url', url: env.DATABASE_URL },
    ...toReadSettings(env),
    kafka: toKafkaSettings(env),
    blobsFolder: env.CADASTRE_BLOBS === undefined ? join(dataFolder, 'blobs') : resolve(env.CADASTRE_BLOBS),
    s3: toS3Settings(env),
    ...toKeySettings(env),
    edition: env.CADASTRE_EDITION,
    featureSet: env.CADASTRE_FEATURE_SET,
    toolReleases: env.CADASTRE_TOOL_RELEASES,
    globalRemoteState: env.CADASTRE_GLOBAL_REMOTE_STATE,
    ...toSignInSettings(env),
    smtp: toSmtpSettings(env),
    softDeletedDays: env.CADASTRE_SOFT_DELETED_DAYS,
    retentionCheckMs: env.CADASTRE_RETENTION_CHECK_MINUTES * 60 * 1_000,
    inlineStateLimit: env.CADASTRE_INLINE_STATE_MAX_MIB * 1_024 * 1_024,
    providerArchiveLimit: env.CADASTRE_PROVIDER_MAX_MIB * 1_024 * 1_024,
    http: toHttpLimits(env),
    liveStreams: toLiveStreams(env),
    auditClientDetails: env.CADASTRE_AUDIT_CLIENT_DETAILS,
    ...toCallerLimits(env),
    requestLog: env.CADASTRE_REQUEST_LOG,
    tracing: toTracingSettings(env),
    shutdownDelayMs: toShutdownDelay(env),
    logLevel: env.LOG_LEVEL,
  };
};

const toShutdownDelay = ({ CADASTRE_SHUTDOWN_DELAY_SECONDS: seconds }: ParsedEnvironment): number | null =>
  seconds === undefined ? null : seconds * 1_000;

const toTlsSettings = ({
  CADASTRE_TLS: mode,
  CADASTRE_TLS_CERT: cert,
  CADASTRE_TLS_KEY: key,
}: ParsedEnvironment): Settings['tls'] =>
  cert !== undefined && key !== undefined ? { mode: 'files', cert: resolve(cert), key: resolve(key) } : { mode };

const toS3Settings = (env: ParsedEnvironment): Settings['s3'] =>
  env.CADASTRE_S3_BUCKET === undefined
    ? null
    : {
        bucket: env.CADASTRE_S3_BUCKET,
        endpoint: env.CADASTRE_S3_ENDPOINT ?? null,
        region: env.CADASTRE_S3_REGION ?? null,
        prefix: env.CADASTRE_S3_PREFIX ?? '',
        pathStyle: env.CADASTRE_S3_PATH_STYLE,
      };

// localhost and not 127.0.0.1, because terraform's `hostname` arguments and credentials blocks accept only names.
const buildDefaultPublicUrl = ({ HOST, PORT }: ParsedEnvironment, scheme: string): string => {
  const name = isLoopback(HOST) || isWildcard(HOST) ? 'localhost' : HOST;
  return new URL(`${scheme}://${isIPv6(name) ? `[${name}]` : name}:${PORT}`).origin;
};

/** Describes how secrets are read from files, for `--help` and the documentation. */
export const SECRET_FILES =
  `A secret can also be in a file. Set the variable with _FILE at its end to the path of the file, instead of the ` +
  `variable itself: ${secretNames.map(toFileVariable).join(', ')}.`;

/** Returns the text of `--help`: each variable with its default and its meaning. */
export const formatSettingsHelp = (): string => {
  const rows = Object.entries(settingVariables).map(([name, { otherwise, description }]) => ({
    name,
    otherwise,
    meaning: description,
  }));
  const width = (column: 'name' | 'otherwise'): number => Math.max(...rows.map((row) => row[column].length));
  const line = (name: string, otherwise: string, meaning: string): string =>
    `  ${name.padEnd(width('name'))}  ${otherwise.padEnd(width('otherwise'))}  ${meaning}`;
  return [
    'Settings (environment variables; an empty one counts as absent):',
    '',
    line('VARIABLE', 'DEFAULT', 'MEANING'),
    ...rows.map(({ name, otherwise, meaning }) => line(name, otherwise, meaning)),
    '',
    SECRET_FILES,
  ].join('\n');
};
