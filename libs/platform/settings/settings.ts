import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { Quotas } from '#platform/kernel';
import { isLoopback, isWildcard } from './host-names.js';
import { findAuditArchiveContradictions, toAuditArchiveSettings } from './audit-archive-settings.js';
import { findKafkaContradictions, toKafkaSettings } from './kafka-settings.js';
import { findOidcContradictions, toOidcSettings } from './oidc-settings.js';
import { redactSecrets } from './redact-secrets.js';
import { findSmtpContradictions, toSmtpSettings } from './smtp-settings.js';
import { findTimeStampContradictions, toTimeStampSettings } from './time-stamp-settings.js';
import { toTracingSettings } from './tracing-settings.js';
import { findTransitContradictions, toTransitSettings } from './transit-settings.js';
import { toFileVariable, resolveSecretFiles, type EnvironmentValues } from './secret-files.js';
import { environment, secretNames, settingVariables } from './variables.js';

type ParsedEnvironment = z.output<typeof environment>;

export type Settings = ReturnType<typeof toSettings>;

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
    ...findAuditArchiveContradictions(env),
    ...findSlowReadContradictions(env),
    ...findKeyContradictions(env),
    ...findTransitContradictions(env),
    ...findTimeStampContradictions(env),
  ];
  if (env['DATABASE_DIRECT_URL'] && !env['DATABASE_URL']) {
    lines.push('DATABASE_DIRECT_URL: set, but DATABASE_URL is missing; without a pooler, set only DATABASE_URL');
  }
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

const MIB = 1_024 * 1_024;

/** Limits of the HTTP server that are settings. It has further limits. */
const toHttpLimits = (env: ParsedEnvironment) =>
  ({
    connections: env.CADASTRE_MAX_CONNECTIONS,
    connectionsPerAddress: env.CADASTRE_MAX_CONNECTIONS_PER_ADDRESS,
    bodyMs: env.CADASTRE_REQUEST_TIMEOUT_SECONDS * 1_000,
    uploadBytesPerSecond: env.CADASTRE_UPLOAD_MIN_RATE,
    /** In bytes. */
    bodyMemory: {
      total: Math.max(env.CADASTRE_BODY_MEMORY_MIB, computeMaxJsonMib(env)) * MIB,
      perCaller: Math.max(env.CADASTRE_BODY_MEMORY_PER_CALLER_MIB, computeMaxJsonMib(env)) * MIB,
    },
    /** Requests that a gateway works on at the same time; null for no limit. Times are in milliseconds. */
    unanswered:
      env.CADASTRE_MAX_UNANSWERED_REQUESTS === null
        ? null
        : {
            max: env.CADASTRE_MAX_UNANSWERED_REQUESTS,
            targetMs: env.CADASTRE_STATEMENT_TARGET_MS,
            waitMs: env.CADASTRE_MAX_WAIT_MS,
          },
  }) as const;

/** Open live streams of one gateway, and of one caller on it. Half of the connections stays free for requests. */
const toLiveStreams = (env: ParsedEnvironment) =>
  ({
    total: Math.min(env.CADASTRE_MAX_LIVE_STREAMS, Math.max(1, Math.floor(env.CADASTRE_MAX_CONNECTIONS / 2))),
    perCaller: env.CADASTRE_MAX_LIVE_STREAMS_PER_CALLER,
  }) as const;

const toServerSettings = (env: ParsedEnvironment) => {
  const tls = toTlsSettings(env);
  return {
    host: env.HOST,
    port: env.PORT,
    /** Number of processes of `serve` that serve requests. With 1, everything is in one process. */
    workers: env.CADASTRE_WORKERS,
    /** Whether `serve` starts an executor. `auto`: if the first start has created a pool for it. */
    executor: env.CADASTRE_EXECUTOR,
    tls,
    /** An origin: scheme, host and, unless it is the scheme's default, port; without a trailing slash. */
    publicUrl: env.CADASTRE_PUBLIC_URL ?? buildDefaultPublicUrl(env, tls.mode === 'off' ? 'http' : 'https'),
    /** Addresses and networks. `X-Forwarded-For` of other clients is ignored. */
    trustedProxies: env.CADASTRE_TRUSTED_PROXIES,
    /** Host names, addresses and networks with private addresses that organizations may let this server call. */
    outboundPrivateHosts: env.CADASTRE_OUTBOUND_PRIVATE_HOSTS,
    http: toHttpLimits(env),
    liveStreams: toLiveStreams(env),
    /** Whether each request is logged at level `info`. */
    requestLog: env.CADASTRE_REQUEST_LOG,
    /** Null if traces are not recorded. */
    tracing: toTracingSettings(env),
    /** Milliseconds for which requests are still served after the signal to stop; null for the default of the process. */
    shutdownDelayMs: toShutdownDelay(env),
    logLevel: env.LOG_LEVEL,
  } as const;
};

/** Milliseconds after which Postgres cancels a read of a request; `slowReadTimeoutMs` applies to slow reads. */
const toReadSettings = (env: ParsedEnvironment) =>
  ({
    readTimeoutMs: env.CADASTRE_READ_TIMEOUT_SECONDS * 1_000,
    slowReadTimeoutMs: env.CADASTRE_SLOW_READ_TIMEOUT_SECONDS * 1_000,
    slowConnections: env.CADASTRE_SLOW_CONNECTIONS,
    slowReadsPerCaller: env.CADASTRE_SLOW_READS_PER_CALLER,
    /** Bytes of the documents that a gateway keeps in memory; null to keep none. */
    documentCacheBytes: env.CADASTRE_DOCUMENT_CACHE_MIB === null ? null : env.CADASTRE_DOCUMENT_CACHE_MIB * MIB,
  }) as const;

const toDatabaseSettings = ({ DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl }: ParsedEnvironment) =>
  url === undefined
    ? ({ mode: 'embedded' } as const)
    : // `poolerUrl` is the address of all statements that need no session of their own; null if there is no pooler.
      ({ mode: 'url', url: directUrl ?? url, poolerUrl: directUrl === undefined ? null : url } as const);

const toStorageSettings = (env: ParsedEnvironment) => {
  const dataFolder = resolve(env.CADASTRE_DATA);
  return {
    dataFolder,
    database: toDatabaseSettings(env),
    /** Null if Kafka is not configured: nothing is published, and the log keeps everything for later publication. */
    kafka: toKafkaSettings(env),
    /** Absolute path. Not used if `s3` is set. */
    blobsFolder: env.CADASTRE_BLOBS === undefined ? join(dataFolder, 'blobs') : resolve(env.CADASTRE_BLOBS),
    s3: toS3Settings(env),
    /** The bucket to which audit trails are delivered; null if there is none. */
    auditArchive: toAuditArchiveSettings(env),
    /** Null is possible only with the embedded database: a key is then created in the data folder. */
    encryptionKey: env.CADASTRE_ENCRYPTION_KEY ?? null,
    /** The key before the current one, while the operator rotates keys; null otherwise. */
    previousEncryptionKey: env.CADASTRE_ENCRYPTION_KEY_PREVIOUS ?? null,
    /** The service that unwraps wrapped keys; null if keys are not wrapped. */
    transit: toTransitSettings(env),
    /** The file with the policy of the witnesses that cosign the log of the site; null if there are none. */
    trailWitnessesFile: env.CADASTRE_TRAIL_WITNESSES === undefined ? null : resolve(env.CADASTRE_TRAIL_WITNESSES),
    /** The authority that stamps checkpoints of the log of the site; null if there is none. */
    timeStamps: toTimeStampSettings(env),
    /** The key of `transit` that signs checkpoints of audit trails; null if keys in the database sign. */
    trailSigningKey: env.CADASTRE_VAULT_SIGNING_KEY ?? null,
    /** Days after which soft-deleted files are deleted permanently. */
    softDeletedDays: env.CADASTRE_SOFT_DELETED_DAYS,
    /** Days for which deleted resources can be recovered; 0 if deletions are final. */
    recoverableDays: env.CADASTRE_RECOVERABLE_DAYS,
    /** Milliseconds between two runs of the job that applies data retention policies. */
    retentionCheckMs: env.CADASTRE_RETENTION_CHECK_MINUTES * 60 * 1_000,
    /** Bytes of the largest state inside a request. */
    inlineStateLimit: env.CADASTRE_INLINE_STATE_MAX_MIB * MIB,
    /** Bytes of the largest accepted zip of a provider. */
    providerArchiveLimit: env.CADASTRE_PROVIDER_MAX_MIB * MIB,
    /** Bytes of the longest log of a plan or an apply. */
    logLimit: env.CADASTRE_RUN_LOG_MAX_MIB * MIB,
    /** Bytes of the largest archive with the plan of a run. */
    planFileLimit: env.CADASTRE_PLAN_FILE_MAX_MIB * MIB,
  } as const;
};

const toSiteSettings = (env: ParsedEnvironment) =>
  ({
    edition: env.CADASTRE_EDITION,
    featureSet: env.CADASTRE_FEATURE_SET,
    /** Bytes of the largest accepted archive of a module. */
    moduleArchiveLimit: env.CADASTRE_MODULE_MAX_MIB * MIB,
    /** Versions of Terraform or OpenTofu that workspaces may choose, in addition to those built in. */
    toolReleases: env.CADASTRE_TOOL_RELEASES,
    /** The hours from one health assessment of a workspace to the next; null for none, as in the self-hosted edition. */
    assessmentHours: env.CADASTRE_EDITION === 'self-hosted' ? null : env.CADASTRE_ASSESSMENT_HOURS,
    /** Default for new workspaces. */
    globalRemoteState: env.CADASTRE_GLOBAL_REMOTE_STATE,
    adminToken: env.CADASTRE_ADMIN_TOKEN ?? null,
    /** Lifetime of tokens whose request contains no expiry time; null if they do not expire. */
    tokenLifetime: env.CADASTRE_TOKEN_LIFETIME,
    /** Minutes without a request, and hours in total, after which a person's session ends. */
    sessions: { idleMinutes: env.CADASTRE_SESSION_IDLE_MINUTES, hours: env.CADASTRE_SESSION_HOURS },
    /** Whether the site requires a second factor of everybody. */
    requiresTwoFactor: env.CADASTRE_REQUIRE_TWO_FACTOR,
    /** Null if the settings describe no identity provider. The API can add others. */
    oidc: toOidcSettings(env),
    /** Null if no mail server is configured: notifications cannot be sent by e-mail. */
    smtp: toSmtpSettings(env),
    /** Whether audit entries show the address and the user agent of a request. */
    auditClientDetails: env.CADASTRE_AUDIT_CLIENT_DETAILS,
  }) as const;

const toQuotas = (env: ParsedEnvironment): Quotas => ({
  organizationsPerUser: env.CADASTRE_MAX_ORGANIZATIONS_PER_USER,
  users: env.CADASTRE_MAX_USERS,
  invitationsPerOrganization: env.CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION,
  invitationsPerCaller: env.CADASTRE_MAX_INVITATIONS_PER_CALLER,
  tokensPerOwner: env.CADASTRE_MAX_TOKENS_PER_OWNER,
  runValuesMib: env.CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION,
});

const toCallerLimits = (env: ParsedEnvironment) =>
  ({
    /** Facts that an organization can report in ten seconds; null for no limit. */
    factsLimit: env.CADASTRE_FACTS_LIMIT,
    /** Null for no limit. */
    limits: {
      /** Requests per second, of all workers together. */
      perToken: env.CADASTRE_RATE_LIMIT,
      /** Workers that share the requests of a token. */
      workers: 1 as number,
      /** Requests per second without a valid token. */
      perAddress: env.CADASTRE_ADDRESS_RATE_LIMIT,
      /** Requests with a wrong token per minute and address. */
      wrongTokens: env.CADASTRE_WRONG_TOKEN_LIMIT,
      /** Created tokens and changes of a user's own account, per second and caller. */
      accessChanges: env.CADASTRE_ACCESS_CHANGE_LIMIT,
    },
    quotas: toQuotas(env),
    organizationCreation: { creators: env.CADASTRE_ORGANIZATION_CREATORS },
    /** Plans and applies of an organization that executors of the site execute at once; null for any number. */
    siteRunsPerOrganization: env.CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION,
    /** Unexpired tokens of a team that its workload identities can have issued. */
    workloadTokensPerTeam: env.CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM,
  }) as const;

const toSettings = (env: ParsedEnvironment) =>
  ({
    ...toServerSettings(env),
    ...toReadSettings(env),
    ...toStorageSettings(env),
    ...toSiteSettings(env),
    ...toCallerLimits(env),
  }) as const;

const toShutdownDelay = ({ CADASTRE_SHUTDOWN_DELAY_SECONDS: seconds }: ParsedEnvironment): number | null =>
  seconds === undefined ? null : seconds * 1_000;

/** The paths of PEM files are absolute. */
const toTlsSettings = ({ CADASTRE_TLS: mode, CADASTRE_TLS_CERT: cert, CADASTRE_TLS_KEY: key }: ParsedEnvironment) =>
  cert !== undefined && key !== undefined
    ? ({ mode: 'files', cert: resolve(cert), key: resolve(key) } as const)
    : ({ mode } as const);

/** Null if blobs are stored in the folder. */
const toS3Settings = (env: ParsedEnvironment) =>
  env.CADASTRE_S3_BUCKET === undefined
    ? null
    : ({
        bucket: env.CADASTRE_S3_BUCKET,
        /** Null for Amazon S3. */
        endpoint: env.CADASTRE_S3_ENDPOINT ?? null,
        /** Null for the region of AWS's own settings. */
        region: env.CADASTRE_S3_REGION ?? null,
        /** Without a slash at the end. */
        prefix: env.CADASTRE_S3_PREFIX ?? '',
        pathStyle: env.CADASTRE_S3_PATH_STYLE,
      } as const);

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
