import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issueCa, issueServerCertificate } from '../host/certificates/certificates.js';
import { InvalidSettingsError, readSettings, formatSettingsHelp } from './settings.js';
import { removeFolder, createTemporaryFolder } from '../host/spec.js';

const key = Buffer.alloc(32, 7).toString('base64');

const KEY_FORMS = 'must be 32 bytes in base64 (openssl rand -base64 32), or a key that Vault has wrapped (vault:v1:…)';

const linesOf = (env: Readonly<Record<string, string>>): readonly string[] => {
  try {
    readSettings(env);
  } catch (error) {
    if (error instanceof InvalidSettingsError) return error.lines;
    throw error;
  }
  return [];
};

describe('settings', () => {
  let folder: string;
  let cert: string;
  let certKey: string;
  beforeAll(async () => {
    folder = await createTemporaryFolder();
    cert = join(folder, 'cert.pem');
    certKey = join(folder, 'key.pem');
    await writeFile(cert, '');
    await writeFile(certKey, '');
  });
  afterAll(() => removeFolder(folder));

  it('have defaults', () => {
    expect(readSettings({})).toEqual({
      host: '127.0.0.1',
      port: 8443,
      dataFolder: resolve('.cadastre'),
      workers: 1,
      executor: 'auto',
      tls: { mode: 'auto' },
      publicUrl: 'https://localhost:8443',
      trustedProxies: [],
      outboundPrivateHosts: [],
      adminToken: null,
      database: { mode: 'embedded' },
      kafka: null,
      blobsFolder: resolve('.cadastre/blobs'),
      s3: null,
      auditArchive: null,
      encryptionKey: null,
      previousEncryptionKey: null,
      trailSigningKey: null,
      trailWitnessesFile: null,
      timeStamps: null,
      transit: null,
      edition: 'all',
      featureSet: 'everything',
      toolReleases: [],
      assessmentHours: 24,
      globalRemoteState: false,
      tokenLifetime: { years: 2, days: 0 },
      sessions: { idleMinutes: 720, hours: 168 },
      requiresTwoFactor: false,
      oidc: null,
      smtp: null,
      retentionCheckMs: 3_600_000,
      softDeletedDays: 30,
      recoverableDays: 30,
      inlineStateLimit: 10 * 1024 * 1024,
      readTimeoutMs: 5_000,
      slowReadTimeoutMs: 15_000,
      slowConnections: 4,
      slowReadsPerCaller: 2,
      providerArchiveLimit: 1024 * 1024 * 1024,
      moduleArchiveLimit: 64 * 1024 * 1024,
      logLimit: 64 * 1024 * 1024,
      planFileLimit: 256 * 1024 * 1024,
      http: {
        connections: 1_000,
        connectionsPerAddress: 500,
        bodyMs: 30_000,
        uploadBytesPerSecond: 1_024,
        bodyMemory: { total: 64 * 1_024 * 1_024, perCaller: 32 * 1_024 * 1_024 },
        unanswered: { max: 500, targetMs: 100, waitMs: 500 },
      },
      liveStreams: { total: 500, perCaller: 20 },
      documentCacheBytes: 16 * 1_024 * 1_024,
      factsLimit: 2000,
      auditClientDetails: true,
      requestLog: true,
      limits: { perToken: 100, workers: 1, perAddress: 500, wrongTokens: 60, accessChanges: 20 },
      quotas: {
        organizationsPerUser: 100,
        users: 10_000,
        invitationsPerOrganization: 500,
        invitationsPerCaller: 200,
        tokensPerOwner: 500,
        runValuesMib: 512,
      },
      organizationCreation: { creators: 'everyone' },
      siteRunsPerOrganization: 20,
      workloadTokensPerTeam: 1_000,
      tracing: null,
      shutdownDelayMs: null,
      logLevel: 'info',
    });
  });

  it('of traces have the names and defaults of OpenTelemetry', () => {
    expect(readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }).tracing).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: {},
      sampler: 'parentbased_always_on',
      samplingRatio: 1,
      serviceName: 'cadastre',
      resourceAttributes: {},
      exportEveryMs: 5_000,
    });
    expect(
      readSettings({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/otlp',
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret, other = x=y',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=tf,deployment.environment.name=prod',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      }).tracing,
    ).toEqual({
      url: 'https://traces.example.com/otlp',
      headers: { 'api-key': 'a secret', other: 'x=y' },
      sampler: 'traceidratio',
      samplingRatio: 0.25,
      serviceName: 'tf',
      resourceAttributes: { 'service.name': 'tf', 'deployment.environment.name': 'prod' },
      exportEveryMs: 100,
    });
    expect(
      linesOf({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
        OTEL_EXPORTER_OTLP_HEADERS: 'a-secret',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_TRACES_SAMPLER: 'sometimes',
        OTEL_TRACES_SAMPLER_ARG: '2',
        OTEL_RESOURCE_ATTRIBUTES: 'a=%',
      }),
    ).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be http:// or https:// with a host, without user, password or query, got "collector:4317"',
      'OTEL_EXPORTER_OTLP_HEADERS: must be a comma-separated list of name=value, percent-encoded; entry 1 is invalid',
      'OTEL_EXPORTER_OTLP_PROTOCOL: must be one of http/protobuf, got "grpc"',
      expect.stringMatching(/^OTEL_TRACES_SAMPLER: must be one of always_on, .*, got "sometimes"$/),
      'OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, got "2"',
      'OTEL_RESOURCE_ATTRIBUTES: must be a comma-separated list of name=value, percent-encoded; entry 1 is invalid, got "a=%"',
    ]);
  });

  it('describe the mail server', () => {
    const from = 'Cadastre <cadastre@example.com>';
    const smtp = (url: string, more: object = {}) =>
      readSettings({ CADASTRE_SMTP_URL: url, CADASTRE_SMTP_FROM: from, ...more }).smtp;
    expect(smtp('smtps://us%40er:p%3Ass@mail.example.com')).toEqual({
      host: 'mail.example.com',
      port: 465,
      tls: 'implicit',
      credentials: { user: 'us@er', password: 'p:ss' },
      from: { name: 'Cadastre', address: 'cadastre@example.com' },
      timeoutMs: 20_000,
    });
    expect(smtp('smtp://[::1]:2525', { CADASTRE_SMTP_FROM: 'a@b.example' })).toMatchObject({
      host: '::1',
      port: 2525,
      tls: 'starttls',
      credentials: null,
      from: { name: '', address: 'a@b.example' },
    });
    const plain = smtp('smtp://localhost', { CADASTRE_SMTP_TLS: 'off', CADASTRE_SMTP_TIMEOUT_SECONDS: '5' });
    expect(plain).toMatchObject({ port: 587, tls: 'off', timeoutMs: 5_000 });
  });

  it.each([
    ['URL', 'mail.example.com', 'must be smtp:// or smtps://'],
    ['URL', 'https://mail.example.com', 'must be smtp:// or smtps://'],
    ['URL', 'smtps://user@mail.example.com', 'must be smtp:// or smtps://'],
    ['URL', 'smtps://user:secret%0D%0A@mail.example.com', 'must be smtp:// or smtps://'],
    ['URL', 'smtps://user:secret%zz@mail.example.com', 'must be smtp:// or smtps://'],
    ['URL', 'smtps://user:secret@mail.example.com/?tls.rejectUnauthorized=false', 'must be smtp:// or smtps://'],
    ['FROM', 'Cadastre', 'must be an address such as'],
    ['FROM', 'a@b.example, c@d.example', 'must be an address such as'],
    ['FROM', 'Cadastre <a@b.example> <c@d.example>', 'must be an address such as'],
    ['FROM', 'Cadastre\r\nBcc: x <a@b.example>', 'must be an address such as'],
    ['TLS', 'maybe', 'must be one of required, off'],
    ['TLS', 'off', 'off, but CADASTRE_SMTP_URL begins with smtps://'],
    ['TIMEOUT_SECONDS', '26', 'must be a whole number from 1 to 25'],
  ])('refuse CADASTRE_SMTP_%s=%j, and never quote the URL', (name, value, message) => {
    const required = { CADASTRE_SMTP_URL: 'smtps://mail.example.com', CADASTRE_SMTP_FROM: 'a@b.example' };
    const lines = linesOf({ ...required, [`CADASTRE_SMTP_${name}`]: value });
    expect(lines).toEqual([expect.stringContaining(`CADASTRE_SMTP_${name}: ${message}`)]);
    expect(lines[0]).not.toContain('secret');
  });

  it('of the mail server need its URL and the sender', () => {
    expect(linesOf({ CADASTRE_SMTP_URL: 'smtps://mail.example.com' })).toEqual([
      'CADASTRE_SMTP_FROM: missing, CADASTRE_SMTP_URL needs it',
    ]);
    expect(linesOf({ CADASTRE_SMTP_FROM: 'a@b.example', CADASTRE_SMTP_TLS: 'required' })).toEqual([
      'CADASTRE_SMTP_FROM: set, but CADASTRE_SMTP_URL is missing',
      'CADASTRE_SMTP_TLS: set, but CADASTRE_SMTP_URL is missing',
    ]);
  });

  describe('of time stamps', () => {
    let required: { readonly CADASTRE_TIME_STAMP_URL: string; readonly CADASTRE_TIME_STAMP_CA: string };

    beforeAll(async () => {
      const file = join(folder, 'time-stamp-ca.pem');
      await writeFile(file, (await issueCa(new Date())).certificate);
      required = { CADASTRE_TIME_STAMP_URL: 'http://tsa.example.com/sign?v=1', CADASTRE_TIME_STAMP_CA: file };
    });

    it('describe the authority', () => {
      expect(readSettings(required).timeStamps).toEqual({
        url: 'http://tsa.example.com/sign?v=1',
        caFile: required.CADASTRE_TIME_STAMP_CA,
        policy: null,
        intervalMs: 86_400_000,
      });
      const more = { CADASTRE_TIME_STAMP_POLICY: '1.3.6.1.4.1.4146.2', CADASTRE_TIME_STAMP_HOURS: '1' };
      expect(readSettings({ ...required, ...more }).timeStamps).toMatchObject({
        policy: '1.3.6.1.4.1.4146.2',
        intervalMs: 3_600_000,
      });
    });

    it.each([
      ['URL', 'tsa.example.com', 'must be http:// or https://'],
      ['URL', 'https://user:secret@tsa.example.com', 'must be http:// or https://'],
      ['POLICY', '1.02', 'must be an object identifier'],
      ['POLICY', '3.1.1', 'must be an object identifier'],
      ['HOURS', '0', 'must be a whole number from 1 to 720'],
      ['CA', '/absent/ca.pem', 'the file cannot be read (ENOENT)'],
    ])('refuse CADASTRE_TIME_STAMP_%s=%j', (name, value, message) => {
      const lines = linesOf({ ...required, [`CADASTRE_TIME_STAMP_${name}`]: value });
      expect(lines).toEqual([expect.stringContaining(`CADASTRE_TIME_STAMP_${name}: ${message}`)]);
      expect(lines[0]).not.toContain('secret');
    });

    it.each([
      ['no certificate', () => 'later\n'],
      ['a damaged second certificate', (pem: string) => `${pem}\n` + pem.replace('MII', 'AII')],
      ['a second certificate without its end', (pem: string) => `${pem}\n` + pem.slice(0, 200)],
      ['trusted certificates of OpenSSL', (pem: string) => pem.replaceAll(' CERTIFICATE', ' TRUSTED CERTIFICATE')],
    ] as const)('refuse a file of certificates with %s', async (_, change) => {
      const file = join(folder, 'damaged-time-stamp-ca.pem');
      await writeFile(file, change(await readFile(required.CADASTRE_TIME_STAMP_CA, 'utf8')));
      expect(linesOf({ ...required, CADASTRE_TIME_STAMP_CA: file })).toEqual([
        'CADASTRE_TIME_STAMP_CA: the file must contain PEM certificates',
      ]);
    });

    it('need the address and the certificates', () => {
      expect(linesOf({ CADASTRE_TIME_STAMP_URL: 'https://tsa.example.com' })).toEqual([
        'CADASTRE_TIME_STAMP_CA: missing, CADASTRE_TIME_STAMP_URL needs it',
      ]);
      expect(linesOf({ CADASTRE_TIME_STAMP_HOURS: '2' })).toEqual([
        'CADASTRE_TIME_STAMP_HOURS: set, but CADASTRE_TIME_STAMP_URL is missing',
      ]);
    });
  });

  it('describe one identity provider', () => {
    const required = {
      CADASTRE_OIDC_ISSUER: 'https://id.example.com/realms/acme',
      CADASTRE_OIDC_CLIENT_ID: 'cadastre',
    };
    const provider = {
      issuer: 'https://id.example.com/realms/acme',
      clientId: 'cadastre',
      clientSecret: null,
      name: 'Single sign-on',
      scopes: ['openid', 'profile', 'email'],
      createsUsers: false,
      allowedDomains: [],
      allowedGroups: [],
      groupsClaim: 'groups',
      usernameClaim: 'preferred_username',
      externalIdClaim: null,
      mapsGroups: true,
      mappedGroups: [],
      provesTwoFactor: false,
    };
    expect(readSettings(required).oidc).toEqual(provider);
    const optional = {
      CADASTRE_OIDC_CLIENT_SECRET: 'of-the-client',
      CADASTRE_OIDC_NAME: 'Acme ID',
      CADASTRE_OIDC_SCOPES: 'openid  groups',
      CADASTRE_OIDC_CREATE_USERS: 'on',
      CADASTRE_OIDC_ALLOWED_DOMAINS: 'Example.com, example.org',
      CADASTRE_OIDC_ALLOWED_GROUPS: 'cadastre users',
      CADASTRE_OIDC_GROUPS_CLAIM: 'https://example.com/groups',
      CADASTRE_OIDC_USERNAME_CLAIM: 'nickname',
      CADASTRE_OIDC_EXTERNAL_ID_CLAIM: 'oid',
      CADASTRE_OIDC_MAP_GROUPS: 'off',
      CADASTRE_OIDC_MAPPED_GROUPS: 'acme-*, chiefs',
      CADASTRE_OIDC_PROVES_TWO_FACTOR: 'on',
    };
    expect(readSettings({ ...required, ...optional }).oidc).toEqual({
      ...provider,
      clientSecret: 'of-the-client',
      name: 'Acme ID',
      scopes: ['openid', 'groups'],
      createsUsers: true,
      allowedDomains: ['example.com', 'example.org'],
      allowedGroups: ['cadastre users'],
      groupsClaim: 'https://example.com/groups',
      usernameClaim: 'nickname',
      externalIdClaim: 'oid',
      mapsGroups: false,
      mappedGroups: ['acme-*', 'chiefs'],
      provesTwoFactor: true,
    });
  });

  it.each([
    ['ISSUER', 'http://id.example.com', 'must be https:// with a host'],
    ['CLIENT_ID', 'x'.repeat(256), 'must be 1 to 255 visible characters'],
    ['CLIENT_SECRET', 'x'.repeat(1_001), 'must have at most 1000 characters'],
    ['NAME', 'x'.repeat(91), 'must be 1 to 90 visible characters'],
    ['SCOPES', 'profile email', 'must be openid and at most 19 other scopes'],
    ['CREATE_USERS', 'yes', 'must be one of on, off'],
    ['ALLOWED_DOMAINS', 'example.com,@example.org', 'must be a comma-separated list of domains; entry 2 is invalid'],
    ['ALLOWED_GROUPS', 'a,', 'must be a comma-separated list of groups; entry 2 is invalid'],
    ['ALLOWED_GROUPS', Array(101).fill('a').join(','), 'must be a comma-separated list of at most 100 groups'],
    ['GROUPS_CLAIM', 'x'.repeat(256), 'must be 1 to 255 visible characters'],
    ['USERNAME_CLAIM', 'x'.repeat(256), 'must be 1 to 255 visible characters'],
    ['EXTERNAL_ID_CLAIM', 'x'.repeat(256), 'must be 1 to 255 visible characters'],
    ['MAP_GROUPS', 'true', 'must be one of on, off'],
    ['PROVES_TWO_FACTOR', 'yes', 'must be one of on, off'],
    ['MAPPED_GROUPS', 'acme-*,*', 'must be a comma-separated list of groups; entry 2 is invalid'],
  ])('refuse CADASTRE_OIDC_%s=%s', (name, value, message) => {
    const required = { CADASTRE_OIDC_ISSUER: 'https://id.example.com', CADASTRE_OIDC_CLIENT_ID: 'cadastre' };
    expect(linesOf({ ...required, [`CADASTRE_OIDC_${name}`]: value })).toEqual([
      expect.stringContaining(`CADASTRE_OIDC_${name}: ${message}`),
    ]);
  });

  it('refuse an identity provider without a client, and other settings of a provider without an issuer', () => {
    expect(linesOf({ CADASTRE_OIDC_ISSUER: 'https://id.example.com' })).toEqual([
      'CADASTRE_OIDC_CLIENT_ID: missing, CADASTRE_OIDC_ISSUER needs it',
    ]);
    expect(linesOf({ CADASTRE_OIDC_CLIENT_SECRET: 'of-the-client', CADASTRE_OIDC_NAME: 'Acme' })).toEqual([
      'CADASTRE_OIDC_CLIENT_SECRET: set, but CADASTRE_OIDC_ISSUER is missing',
      'CADASTRE_OIDC_NAME: set, but CADASTRE_OIDC_ISSUER is missing',
    ]);
  });

  it('are read from the environment', () => {
    const settings = readSettings({
      HOST: '10.0.0.7',
      PORT: '443',
      CADASTRE_DATA: '/var/lib/cadastre',
      CADASTRE_WORKERS: '8',
      CADASTRE_EXECUTOR: 'off',
      CADASTRE_TLS_CERT: cert,
      CADASTRE_TLS_KEY: certKey,
      CADASTRE_PUBLIC_URL: 'https://tf.example.com/',
      CADASTRE_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      CADASTRE_OUTBOUND_PRIVATE_HOSTS: '*.corp.example, 10.1.0.0/16',
      CADASTRE_ADMIN_TOKEN: 'a'.repeat(20),
      DATABASE_URL: 'postgres://u:p@db/cadastre',
      KAFKA_BROKERS: 'one:9092, [::1]:9093',
      KAFKA_TOPIC_PARTITIONS: '12',
      KAFKA_TOPIC_REPLICAS: '2',
      KAFKA_TOPIC_RETENTION_DAYS: '90',
      KAFKA_CLOUD_EVENTS: 'structured',
      CADASTRE_TOPIC_PREFIX: 'prod.tf',
      CADASTRE_BLOBS: '/blobs',
      CADASTRE_ENCRYPTION_KEY: key,
      CADASTRE_ENCRYPTION_KEY_PREVIOUS: Buffer.alloc(32, 8).toString('base64'),
      CADASTRE_EDITION: 'self-hosted',
      CADASTRE_FEATURE_SET: 'free',
      CADASTRE_TOOL_RELEASES: '1.16.6, 1.17.0-rc1',
      CADASTRE_GLOBAL_REMOTE_STATE: 'true',
      CADASTRE_RETENTION_CHECK_MINUTES: '5',
      CADASTRE_MAX_CONNECTIONS: '50',
      CADASTRE_MAX_CONNECTIONS_PER_ADDRESS: '10',
      CADASTRE_MAX_LIVE_STREAMS: '40',
      CADASTRE_MAX_LIVE_STREAMS_PER_CALLER: '3',
      CADASTRE_MAX_UNANSWERED_REQUESTS: '64',
      CADASTRE_STATEMENT_TARGET_MS: '40',
      CADASTRE_MAX_WAIT_MS: '0',
      CADASTRE_REQUEST_TIMEOUT_SECONDS: '5',
      CADASTRE_UPLOAD_MIN_RATE: '100',
      CADASTRE_BODY_MEMORY_MIB: '8',
      CADASTRE_BODY_MEMORY_PER_CALLER_MIB: '4',
      CADASTRE_DOCUMENT_CACHE_MIB: 'off',
      CADASTRE_FACTS_LIMIT: 'off',
      CADASTRE_TOKEN_LIFETIME: '90d',
      CADASTRE_SESSION_IDLE_MINUTES: '30',
      CADASTRE_SESSION_HOURS: '24',
      CADASTRE_REQUIRE_TWO_FACTOR: 'true',
      CADASTRE_AUDIT_CLIENT_DETAILS: 'off',
      CADASTRE_REQUEST_LOG: 'off',
      CADASTRE_RATE_LIMIT: '30',
      CADASTRE_ADDRESS_RATE_LIMIT: '1000',
      CADASTRE_WRONG_TOKEN_LIMIT: 'off',
      CADASTRE_ACCESS_CHANGE_LIMIT: '1',
      CADASTRE_MAX_ORGANIZATIONS_PER_USER: '7',
      CADASTRE_MAX_USERS: 'off',
      CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION: '30',
      CADASTRE_MAX_INVITATIONS_PER_CALLER: '20',
      CADASTRE_ORGANIZATION_CREATORS: 'administrators',
      CADASTRE_MAX_TOKENS_PER_OWNER: '1',
      CADASTRE_MAX_RUN_VALUES_MIB_PER_ORGANIZATION: '3',
      CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM: '50',
      CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: 'off',
      CADASTRE_SHUTDOWN_DELAY_SECONDS: '20',
      LOG_LEVEL: 'silent',
    });
    expect(settings).toEqual({
      host: '10.0.0.7',
      port: 443,
      dataFolder: '/var/lib/cadastre',
      workers: 8,
      executor: 'off',
      tls: { mode: 'files', cert, key: certKey },
      publicUrl: 'https://tf.example.com',
      trustedProxies: ['10.0.0.0/8', '::1'],
      outboundPrivateHosts: ['*.corp.example', '10.1.0.0/16'],
      adminToken: 'a'.repeat(20),
      database: { mode: 'url', url: 'postgres://u:p@db/cadastre', poolerUrl: null },
      kafka: {
        brokers: ['one:9092', '[::1]:9093'],
        topicPrefix: 'prod.tf',
        topics: { partitions: 12, replicas: 2, retentionDays: 90 },
        cloudEvents: 'structured',
        tls: null,
        sasl: null,
      },
      blobsFolder: '/blobs',
      s3: null,
      auditArchive: null,
      encryptionKey: Buffer.alloc(32, 7),
      previousEncryptionKey: Buffer.alloc(32, 8),
      trailSigningKey: null,
      trailWitnessesFile: null,
      timeStamps: null,
      transit: null,
      edition: 'self-hosted',
      featureSet: 'free',
      toolReleases: ['1.16.6', '1.17.0-rc1'],
      // The self-hosted edition has no health assessments.
      assessmentHours: null,
      globalRemoteState: true,
      tokenLifetime: { years: 0, days: 90 },
      sessions: { idleMinutes: 30, hours: 24 },
      requiresTwoFactor: true,
      oidc: null,
      smtp: null,
      retentionCheckMs: 300_000,
      softDeletedDays: 30,
      recoverableDays: 30,
      inlineStateLimit: 10 * 1024 * 1024,
      readTimeoutMs: 5_000,
      slowReadTimeoutMs: 15_000,
      slowConnections: 4,
      slowReadsPerCaller: 2,
      providerArchiveLimit: 1024 * 1024 * 1024,
      moduleArchiveLimit: 64 * 1024 * 1024,
      logLimit: 64 * 1024 * 1024,
      planFileLimit: 256 * 1024 * 1024,
      http: {
        connections: 50,
        connectionsPerAddress: 10,
        bodyMs: 5_000,
        uploadBytesPerSecond: 100,
        // The memory always suffices for the largest request with states.
        bodyMemory: { total: 31 * 1_024 * 1_024, perCaller: 31 * 1_024 * 1_024 },
        unanswered: { max: 64, targetMs: 40, waitMs: 0 },
      },
      // Half of the connections stay free for requests.
      liveStreams: { total: 25, perCaller: 3 },
      documentCacheBytes: null,
      factsLimit: null,
      auditClientDetails: false,
      requestLog: false,
      limits: { perToken: 30, workers: 1, perAddress: 1_000, wrongTokens: null, accessChanges: 1 },
      quotas: {
        organizationsPerUser: 7,
        users: null,
        invitationsPerOrganization: 30,
        invitationsPerCaller: 20,
        tokensPerOwner: 1,
        runValuesMib: 3,
      },
      organizationCreation: { creators: 'administrators' },
      siteRunsPerOrganization: null,
      workloadTokensPerTeam: 50,
      tracing: null,
      shutdownDelayMs: 20_000,
      logLevel: 'silent',
    });
  });

  it('select a bucket instead of a folder', () => {
    expect(readSettings({ CADASTRE_S3_BUCKET: 'acme-states' }).s3).toEqual({
      bucket: 'acme-states',
      endpoint: null,
      region: null,
      prefix: '',
      pathStyle: false,
    });
    const env = {
      CADASTRE_S3_BUCKET: 'states',
      CADASTRE_S3_ENDPOINT: 'https://s3.example.com:9000/store',
      CADASTRE_S3_REGION: 'eu-central-1',
      CADASTRE_S3_PREFIX: 'team/cadastre/',
      CADASTRE_S3_PATH_STYLE: 'true',
    };
    expect(readSettings(env).s3).toEqual({
      bucket: 'states',
      endpoint: 'https://s3.example.com:9000/store',
      region: 'eu-central-1',
      prefix: 'team/cadastre',
      pathStyle: true,
    });
  });

  it('count as absent if they are empty', () => {
    const empty = Object.fromEntries(
      ['HOST', 'PORT', 'DATABASE_URL', 'KAFKA_BROKERS', 'LOG_LEVEL'].map((n) => [n, '']),
    );
    expect(readSettings(empty)).toEqual(readSettings({}));
  });

  it.each([
    [{ CADASTRE_TLS: 'off' }, 'http://localhost:8443'],
    [{ HOST: '0.0.0.0', PORT: '9000' }, 'https://localhost:9000'],
    [{ HOST: '::' }, 'https://localhost:8443'],
    [{ HOST: 'tf.internal', PORT: '443' }, 'https://tf.internal'],
    [{ HOST: '2001:db8::7' }, 'https://[2001:db8::7]:8443'],
  ])('%j have the public URL %s', (env, url) => {
    expect(readSettings(env).publicUrl).toBe(url);
  });

  it.each([
    ['HOST', 'not a host', 'HOST: must be an IP address or a host name'],
    ['HOST', '127.0.0.256', 'HOST: must be an IP address or a host name'],
    ['HOST', 'fe80::1%eth0', 'HOST: must be an IP address or a host name'],
    ['PORT', '70000', 'PORT: must be a whole number from 1 to 65535'],
    ['PORT', '0', 'PORT: must be a whole number from 1 to 65535'],
    ...['2', '0y', '101y', '36501d', '6m'].map((text) => [
      'CADASTRE_TOKEN_LIFETIME',
      text,
      'CADASTRE_TOKEN_LIFETIME: must be calendar years from 1y to 100y, days from 1d to 36500d, or off',
    ]),
    ['CADASTRE_TLS', 'on', 'CADASTRE_TLS: must be one of auto, off'],
    [
      'CADASTRE_PUBLIC_URL',
      'tf.example.com',
      'CADASTRE_PUBLIC_URL: must be http:// or https:// with a host and an optional port, without a path',
    ],
    [
      'CADASTRE_PUBLIC_URL',
      'https://a.b/c',
      'CADASTRE_PUBLIC_URL: must be http:// or https:// with a host and an optional port, without a path',
    ],
    ['CADASTRE_ADMIN_TOKEN', 'hunter2', 'CADASTRE_ADMIN_TOKEN: must have at least 20 characters'],
    [
      'KAFKA_BROKERS',
      'one:9092,hunter2',
      'KAFKA_BROKERS: must be a comma-separated list of host:port; entry 2 is invalid',
    ],
    ['CADASTRE_TOPIC_PREFIX', 'a/b', 'CADASTRE_TOPIC_PREFIX: must be letters, digits, dots, underscores and hyphens'],
    ['CADASTRE_ENCRYPTION_KEY', 'hunter2', `CADASTRE_ENCRYPTION_KEY: ${KEY_FORMS}`],
    [
      'CADASTRE_S3_BUCKET',
      's3://acme',
      'CADASTRE_S3_BUCKET: must be 3 to 63 letters, digits, dots, hyphens and underscores',
    ],
    ['CADASTRE_EDITION', 'hunter2', 'CADASTRE_EDITION: must be one of all, hosted, self-hosted'],
    ['CADASTRE_FEATURE_SET', 'paid', 'CADASTRE_FEATURE_SET: must be one of everything, free'],
    [
      'CADASTRE_TOOL_RELEASES',
      '1.16.6,v1.17',
      'CADASTRE_TOOL_RELEASES: must be a comma-separated list of versions such as 1.2.3; entry 2 is invalid',
    ],
    ...['10.0.0.5, proxy.test', '10.0.0.5,10.0.0.0/33', '10.0.0.5,::/129', '::1,10.0.0.0/8/8', '::1,'].map((list) => [
      'CADASTRE_TRUSTED_PROXIES',
      list,
      'CADASTRE_TRUSTED_PROXIES: must be a comma-separated list of addresses or networks such as 10.0.0.0/8; ' +
        'entry 2 is invalid',
    ]),
    ['CADASTRE_GLOBAL_REMOTE_STATE', 'yes', 'CADASTRE_GLOBAL_REMOTE_STATE: must be one of true, false'],
    ['CADASTRE_REQUIRE_TWO_FACTOR', 'on', 'CADASTRE_REQUIRE_TWO_FACTOR: must be one of true, false'],
    [
      'CADASTRE_RETENTION_CHECK_MINUTES',
      '0',
      'CADASTRE_RETENTION_CHECK_MINUTES: must be a whole number from 1 to 1440',
    ],
    ['CADASTRE_MAX_LIVE_STREAMS', '0', 'CADASTRE_MAX_LIVE_STREAMS: must be a whole number from 1 to 999999999'],
    [
      'CADASTRE_MAX_UNANSWERED_REQUESTS',
      '15',
      'CADASTRE_MAX_UNANSWERED_REQUESTS: must be a whole number from 16 to 100000, or off',
    ],
    ['CADASTRE_FACTS_LIMIT', '999', 'CADASTRE_FACTS_LIMIT: must be a whole number from 1000 to 1000000, or off'],
    [
      'CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM',
      'off',
      'CADASTRE_MAX_WORKLOAD_TOKENS_PER_TEAM: must be a whole number from 1 to 5000',
    ],
    [
      'CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION',
      '0',
      'CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: must be a whole number from 1 to 1000000, or off',
    ],
    ['CADASTRE_SHUTDOWN_DELAY_SECONDS', '301', 'CADASTRE_SHUTDOWN_DELAY_SECONDS: must be a whole number from 0 to 300'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent'],
  ])('are refused with one line for %s=%s, which contains the value unless it is a secret', (name, value, line) => {
    const quotedValue = ['CADASTRE_ADMIN_TOKEN', 'CADASTRE_ENCRYPTION_KEY'].includes(name) ? '' : `, got "${value}"`;
    expect(linesOf({ [name]: value })).toEqual([`${line}${quotedValue}`]);
  });

  it('are refused if the previous encryption key is invalid, or the same as the current one', () => {
    expect(linesOf({ CADASTRE_ENCRYPTION_KEY_PREVIOUS: 'hunter2' })).toEqual([
      `CADASTRE_ENCRYPTION_KEY_PREVIOUS: ${KEY_FORMS}`,
    ]);
    expect(linesOf({ CADASTRE_ENCRYPTION_KEY: key, CADASTRE_ENCRYPTION_KEY_PREVIOUS: key })).toEqual([
      'CADASTRE_ENCRYPTION_KEY_PREVIOUS: the same as CADASTRE_ENCRYPTION_KEY; set the key before it, or remove it',
    ]);
  });

  it('are quoted without the credentials in an address, and shortened if they are long', () => {
    expect(linesOf({ KAFKA_BROKERS: 'user:hunter2@one', CADASTRE_PUBLIC_URL: 'https://me:hunter2@a.b/' })).toEqual([
      expect.stringMatching(/^CADASTRE_PUBLIC_URL: .*, got "https:\/\/\[redacted\]@a.b\/"$/),
      expect.stringMatching(/^KAFKA_BROKERS: .*, got "\[redacted\]@one"$/),
    ]);
    expect(linesOf({ HOST: '_'.repeat(101) })).toEqual([expect.stringMatching(/, got "_{100}…"$/)]);
  });

  describe('secret files', () => {
    const secretFile = async (content: string): Promise<string> => {
      const file = join(folder, 'secret');
      await writeFile(file, content);
      return file;
    };

    it('are read for every secret, without the newline at the end', async () => {
      expect(readSettings({ CADASTRE_ENCRYPTION_KEY_FILE: await secretFile(`${key}\n`) }).encryptionKey).toEqual(
        Buffer.alloc(32, 7),
      );
      expect(readSettings({ CADASTRE_ADMIN_TOKEN_FILE: await secretFile('t'.repeat(20)) }).adminToken).toBe(
        't'.repeat(20),
      );
      const url = 'postgres://u:p@db/cadastre';
      expect(
        readSettings({ CADASTRE_ENCRYPTION_KEY: key, DATABASE_URL_FILE: await secretFile(`${url}\r\n`) }).database,
      ).toEqual({ mode: 'url', url, poolerUrl: null });
      const DATABASE_DIRECT_URL = 'postgres://u:p@direct/cadastre';
      expect(readSettings({ CADASTRE_ENCRYPTION_KEY: key, DATABASE_URL: url, DATABASE_DIRECT_URL }).database).toEqual({
        mode: 'url',
        url: DATABASE_DIRECT_URL,
        poolerUrl: url,
      });
    });

    it('are refused if the variable itself is set too', async () => {
      expect(
        linesOf({ CADASTRE_ADMIN_TOKEN: 'a'.repeat(20), CADASTRE_ADMIN_TOKEN_FILE: await secretFile('b'.repeat(20)) }),
      ).toEqual(['CADASTRE_ADMIN_TOKEN_FILE: CADASTRE_ADMIN_TOKEN is set too; remove one of the two']);
    });

    it('are refused without the content if the file is missing, empty or has an invalid secret', async () => {
      expect(linesOf({ CADASTRE_ENCRYPTION_KEY_FILE: join(folder, 'absent') })).toEqual([
        'CADASTRE_ENCRYPTION_KEY_FILE: the file cannot be read (ENOENT); name a file that this user can read',
      ]);
      expect(linesOf({ CADASTRE_ENCRYPTION_KEY_FILE: await secretFile('\n') })).toEqual([
        'CADASTRE_ENCRYPTION_KEY_FILE: the file is empty; write the secret into it',
      ]);
      expect(linesOf({ CADASTRE_ENCRYPTION_KEY_FILE: await secretFile('hunter2') })).toEqual([
        `CADASTRE_ENCRYPTION_KEY_FILE: ${KEY_FORMS}`,
      ]);
    });

    it('count as set for other settings that require them', async () => {
      expect(linesOf({ DATABASE_URL_FILE: await secretFile('postgres://db/cadastre') })).toEqual([
        expect.stringContaining('CADASTRE_ENCRYPTION_KEY: missing'),
      ]);
    });
  });

  it('are refused with one line for each contradiction', () => {
    expect(linesOf({ CADASTRE_TLS_CERT: cert })).toEqual(['CADASTRE_TLS_KEY: missing, CADASTRE_TLS_CERT needs it']);
    expect(linesOf({ CADASTRE_TLS_KEY: certKey })).toEqual(['CADASTRE_TLS_CERT: missing, CADASTRE_TLS_KEY needs it']);
    expect(linesOf({ CADASTRE_TLS: 'off', CADASTRE_TLS_CERT: cert, CADASTRE_TLS_KEY: certKey })).toEqual([
      'CADASTRE_TLS: off, but CADASTRE_TLS_CERT or CADASTRE_TLS_KEY is set; remove one of them',
    ]);
    expect(linesOf({ DATABASE_URL: 'postgres://db/cadastre' })).toEqual([
      expect.stringContaining('CADASTRE_ENCRYPTION_KEY: missing'),
    ]);
    expect(linesOf({ DATABASE_DIRECT_URL: 'postgres://db/cadastre' })).toEqual([
      'DATABASE_DIRECT_URL: set, but DATABASE_URL is missing; without a pooler, set only DATABASE_URL',
    ]);
  });

  describe('settings of Kafka', () => {
    const password = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'ada', KAFKA_SASL_PASSWORD: 'hunter2' };
    const client = {
      KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
      KAFKA_SASL_TOKEN_URL: 'https://login.example/token',
      KAFKA_SASL_CLIENT_ID: 'cadastre',
      KAFKA_SASL_CLIENT_SECRET: 'hunter2',
    };
    const linesBeside = (env: Readonly<Record<string, string>>) => linesOf({ KAFKA_BROKERS: 'one:9092', ...env });
    const pem = async (name: string, content: string): Promise<string> => {
      const file = join(folder, name);
      await writeFile(file, content);
      return file;
    };

    it('are read with a user or with a client', () => {
      const { tls, sasl } = readSettings({ KAFKA_BROKERS: 'one:9092', ...password }).kafka ?? {};
      expect({ tls, sasl }).toEqual({
        tls: null,
        sasl: { mechanism: 'PLAIN', username: 'ada', password: 'hunter2' },
      });
      expect(readSettings({ KAFKA_BROKERS: 'one:9092', KAFKA_TLS: 'on', ...client }).kafka).toMatchObject({
        tls: { ca: null, certificate: null, key: null },
        sasl: { mechanism: 'OAUTHBEARER', tokenUrl: 'https://login.example/token', clientId: 'cadastre', scope: null },
      });
    });

    it('are refused without brokers, and those of TLS while TLS is off', () => {
      expect(linesOf({ KAFKA_TLS: 'on', ...password })).toEqual([
        'KAFKA_TLS: set, but KAFKA_BROKERS is missing',
        'KAFKA_SASL_MECHANISM: set, but KAFKA_BROKERS is missing',
        'KAFKA_SASL_USERNAME: set, but KAFKA_BROKERS is missing',
        'KAFKA_SASL_PASSWORD: set, but KAFKA_BROKERS is missing',
      ]);
      expect(linesBeside({ KAFKA_TLS_CA: '/ca.pem' })).toEqual(['KAFKA_TLS_CA: set, but KAFKA_TLS is not on']);
    });

    it('are refused if the mechanism needs a missing setting or does not use one that is set', () => {
      expect(linesBeside({ KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_CLIENT_ID: 'x' })).toEqual([
        'KAFKA_SASL_USERNAME: missing, KAFKA_SASL_MECHANISM=SCRAM-SHA-512 needs it',
        'KAFKA_SASL_PASSWORD: missing, KAFKA_SASL_MECHANISM=SCRAM-SHA-512 needs it',
        'KAFKA_SASL_CLIENT_ID: set, but KAFKA_SASL_MECHANISM=SCRAM-SHA-512 does not use it',
      ]);
      expect(linesBeside({ ...client, ...password, KAFKA_SASL_MECHANISM: 'OAUTHBEARER' })).toEqual([
        'KAFKA_SASL_USERNAME: set, but KAFKA_SASL_MECHANISM=OAUTHBEARER does not use it',
        'KAFKA_SASL_PASSWORD: set, but KAFKA_SASL_MECHANISM=OAUTHBEARER does not use it',
      ]);
      expect(linesBeside({ KAFKA_SASL_USERNAME: 'ada' })).toEqual([
        'KAFKA_SASL_USERNAME: set, but KAFKA_SASL_MECHANISM is missing',
      ]);
      expect(linesBeside({ ...password, KAFKA_SASL_MECHANISM: 'GSSAPI' })).toEqual([
        'KAFKA_SASL_MECHANISM: must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, got "GSSAPI"',
      ]);
    });

    it("allow plain HTTP for the client's secret only on the same machine", () => {
      expect(linesBeside({ ...client, KAFKA_SASL_TOKEN_URL: 'http://[::1]:8080/token' })).toEqual([]);
      expect(linesBeside({ ...client, KAFKA_SASL_TOKEN_URL: 'http://login.example/token' })).toEqual([
        expect.stringMatching(/^KAFKA_SASL_TOKEN_URL: must be https:\/\/ .* got "http:\/\/login.example\/token"$/),
      ]);
    });

    it('are refused if a file is missing, has other content or does not match the certificate', async () => {
      const now = new Date();
      const ca = await issueCa(now);
      const [one, another] = await Promise.all([1, 2].map(() => issueServerCertificate(ca, ['localhost'], now)));
      const KAFKA_TLS_CERT = await pem('kafka.pem', one?.certificate ?? '');
      const on = { KAFKA_TLS: 'on', KAFKA_TLS_CERT };
      expect(linesBeside({ ...on, KAFKA_TLS_KEY: await pem('kafka.key', one?.key ?? '') })).toEqual([]);
      expect(linesBeside({ ...on, KAFKA_TLS_KEY: await pem('other.key', another?.key ?? '') })).toEqual([
        'KAFKA_TLS_KEY: this is not the key of the certificate in KAFKA_TLS_CERT',
      ]);
      expect(linesBeside({ ...on, KAFKA_TLS_CA: join(folder, 'absent') })).toEqual([
        'KAFKA_TLS_KEY: missing, KAFKA_TLS_CERT needs it',
        'KAFKA_TLS_CA: the file cannot be read (ENOENT)',
      ]);
      expect(linesBeside({ KAFKA_TLS: 'on', KAFKA_TLS_CA: await pem('ca.txt', 'none') })).toEqual([
        'KAFKA_TLS_CA: the file must contain PEM certificates',
      ]);
    });
  });

  describe('settings of Vault', () => {
    const vault = {
      CADASTRE_VAULT_ADDRESS: 'https://vault.example:8200/',
      CADASTRE_VAULT_CREDENTIAL_FILE: '/run/token',
    };
    const wrapped = `vault:v3:${Buffer.alloc(60, 9).toString('base64')}`;
    const linesBeside = (env: Readonly<Record<string, string>>) => linesOf({ ...vault, ...env });

    it('are read with a token, an AppRole or a service account, beside wrapped keys', () => {
      const settings = readSettings({ ...vault, CADASTRE_ENCRYPTION_KEY: wrapped });
      expect(settings.encryptionKey).toEqual({ wrapped });
      expect(settings.transit).toEqual({
        address: 'https://vault.example:8200',
        caFile: null,
        namespace: null,
        mount: 'transit',
        keyName: 'cadastre',
        login: { method: 'token' },
        credentialFile: '/run/token',
        timeoutMs: 5_000,
      });
      const role = { CADASTRE_VAULT_ROLE: 'a1-b2', CADASTRE_VAULT_AUTH_MOUNT: 'ci/approle' };
      expect(readSettings({ ...vault, ...role, CADASTRE_VAULT_AUTH: 'approle' }).transit?.login).toEqual({
        method: 'approle',
        mount: 'ci/approle',
        role: 'a1-b2',
      });
      const pod = {
        CADASTRE_VAULT_AUTH: 'kubernetes',
        CADASTRE_VAULT_ROLE: 'cadastre',
        CADASTRE_VAULT_NAMESPACE: 'a/b',
      };
      expect(readSettings({ CADASTRE_VAULT_ADDRESS: 'http://127.0.0.1:8200', ...pod }).transit).toMatchObject({
        address: 'http://127.0.0.1:8200',
        namespace: 'a/b',
        login: { method: 'kubernetes', mount: 'kubernetes', role: 'cadastre' },
        credentialFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
      });
    });

    it('are refused without an address, which wrapped keys need', () => {
      expect(linesOf({ CADASTRE_ENCRYPTION_KEY_PREVIOUS: wrapped, CADASTRE_VAULT_ROLE: 'x' })).toEqual([
        'CADASTRE_VAULT_ADDRESS: missing; the wrapped key in CADASTRE_ENCRYPTION_KEY_PREVIOUS needs it',
        'CADASTRE_VAULT_ROLE: set, but CADASTRE_VAULT_ADDRESS is missing',
      ]);
    });

    it('are refused if the login needs a missing setting or does not use one that is set', () => {
      expect(linesOf({ CADASTRE_VAULT_ADDRESS: 'https://vault.example', CADASTRE_VAULT_ROLE: 'x' })).toEqual([
        'CADASTRE_VAULT_CREDENTIAL_FILE: missing, CADASTRE_VAULT_AUTH=token needs it',
        'CADASTRE_VAULT_ROLE: set, but CADASTRE_VAULT_AUTH=token does not use it',
      ]);
      expect(linesBeside({ CADASTRE_VAULT_AUTH: 'approle' })).toEqual([
        'CADASTRE_VAULT_ROLE: missing, CADASTRE_VAULT_AUTH=approle needs it',
      ]);
      expect(linesBeside({ CADASTRE_VAULT_AUTH: 'kubernetes' })).toEqual([
        'CADASTRE_VAULT_ROLE: missing, CADASTRE_VAULT_AUTH=kubernetes needs it',
      ]);
      expect(linesBeside({ CADASTRE_VAULT_AUTH: 'github' })).toEqual([
        'CADASTRE_VAULT_AUTH: must be one of token, approle, kubernetes, got "github"',
      ]);
    });

    it.each([
      [
        'CADASTRE_VAULT_ADDRESS',
        'http://vault.example:8200',
        /must be https:\/\/ .* http:\/\/ only for a loopback address/,
      ],
      ['CADASTRE_VAULT_TRANSIT_MOUNT', '../sys', /must be names of letters/],
      ['CADASTRE_VAULT_TRANSIT_KEY', 'a/b', /must be letters, digits/],
      ['CADASTRE_VAULT_SIGNING_KEY', 'a/b', /must be letters, digits/],
      ['CADASTRE_VAULT_NAMESPACE', 'a\r\nb', /must be names of letters/],
      ['CADASTRE_VAULT_TIMEOUT_SECONDS', '0', /must be a whole number from 1 to 60/],
    ])('are refused with one line for %s=%s', (name, value, message) => {
      expect(linesBeside({ [name]: value })).toEqual([expect.stringMatching(message)]);
    });

    it('are refused if the file of the authorities is missing or has other content', async () => {
      expect(linesBeside({ CADASTRE_VAULT_CA: join(folder, 'absent') })).toEqual([
        'CADASTRE_VAULT_CA: the file cannot be read (ENOENT)',
      ]);
      await writeFile(join(folder, 'ca.txt'), 'none');
      expect(linesBeside({ CADASTRE_VAULT_CA: join(folder, 'ca.txt') })).toEqual([
        'CADASTRE_VAULT_CA: the file must contain PEM certificates',
      ]);
    });

    it.each(['vault:v1:', 'vault:v0:' + 'A'.repeat(80), 'vault:v1:' + 'A'.repeat(3_000), 'vault:v1:' + '!'.repeat(80)])(
      'refuse %s as a wrapped key, without showing it',
      (text) => {
        expect(linesBeside({ CADASTRE_ENCRYPTION_KEY: text })).toEqual([
          expect.stringMatching(/^CADASTRE_ENCRYPTION_KEY: must be 32 bytes in base64 .*\(vault:v1:…\)$/),
        ]);
      },
    );
  });

  it.each([
    [
      'CADASTRE_S3_ENDPOINT',
      'https://key:secret@s3.example.com',
      'must be http:// or https:// with a host, without user, password or query',
    ],
    ['CADASTRE_S3_REGION', 'eu central', 'must be letters, digits and hyphens'],
    [
      'CADASTRE_S3_PREFIX',
      '/cadastre',
      'must be names of letters, digits, dots, underscores and hyphens, joined by slashes',
    ],
    ['CADASTRE_S3_PATH_STYLE', 'yes', 'must be one of true, false'],
  ])('are refused with one line for %s=%s of a bucket', (name, value, message) => {
    expect(linesOf({ CADASTRE_S3_BUCKET: 'acme', [name]: value })).toEqual([
      `${name}: ${message}, got "${value.replace('key:secret@', '[redacted]@')}"`,
    ]);
  });

  it.each(['3', '0', '-1', '1.5', 'none', '100001'])('refuse %s as a rate limit', (value) => {
    expect(linesOf({ CADASTRE_RATE_LIMIT: value })).toEqual([
      `CADASTRE_RATE_LIMIT: must be a whole number from 4 to 100000, or off, got "${value}"`,
    ]);
  });

  it('select a bucket for the audit trails, which locks objects for a year unless set otherwise', () => {
    expect(readSettings({ CADASTRE_AUDIT_ARCHIVE_BUCKET: 'acme-audit' }).auditArchive).toEqual({
      location: { bucket: 'acme-audit', endpoint: null, region: null, prefix: '', pathStyle: false, credentials: null },
      lockDays: 365,
    });
    const env = {
      CADASTRE_AUDIT_ARCHIVE_BUCKET: 'acme-audit',
      CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: 'off',
      CADASTRE_AUDIT_ARCHIVE_ENDPOINT: 'https://s3.example.com',
      CADASTRE_AUDIT_ARCHIVE_REGION: 'eu-central-1',
      CADASTRE_AUDIT_ARCHIVE_PREFIX: 'trail/',
      CADASTRE_AUDIT_ARCHIVE_PATH_STYLE: 'true',
      CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID: 'archivist',
      CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY: 'swordfish',
    };
    expect(readSettings(env).auditArchive).toEqual({
      location: {
        bucket: 'acme-audit',
        endpoint: 'https://s3.example.com',
        region: 'eu-central-1',
        prefix: 'trail',
        pathStyle: true,
        credentials: { accessKeyId: 'archivist', secretAccessKey: 'swordfish' },
      },
      lockDays: null,
    });
  });

  it('are refused if settings of the archive contradict each other or are invalid', () => {
    const bucket = { CADASTRE_AUDIT_ARCHIVE_BUCKET: 'acme-audit' };
    expect(linesOf({ CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: '30' })).toEqual([
      'CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: set, but CADASTRE_AUDIT_ARCHIVE_BUCKET is missing',
    ]);
    expect(linesOf({ ...bucket, CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID: 'archivist' })).toEqual([
      'CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY: missing, CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID needs it',
    ]);
    expect(linesOf({ ...bucket, CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY: 'swordfish' })).toEqual([
      'CADASTRE_AUDIT_ARCHIVE_ACCESS_KEY_ID: missing, CADASTRE_AUDIT_ARCHIVE_SECRET_ACCESS_KEY needs it',
    ]);
    for (const days of ['0', '36501', '1.5', 'never'])
      expect(linesOf({ ...bucket, CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: days })).toEqual([
        `CADASTRE_AUDIT_ARCHIVE_LOCK_DAYS: must be a whole number from 1 to 36500, or off, got "${days}"`,
      ]);
  });

  it('select either a folder or a bucket for blobs', () => {
    expect(linesOf({ CADASTRE_S3_BUCKET: 'acme', CADASTRE_BLOBS: '/blobs' })).toEqual([
      'CADASTRE_BLOBS: CADASTRE_S3_BUCKET is set too; remove one of the two',
    ]);
    expect(linesOf({ CADASTRE_S3_ENDPOINT: 'http://s3:9000', CADASTRE_S3_PATH_STYLE: 'true' })).toEqual([
      'CADASTRE_S3_ENDPOINT: set, but CADASTRE_S3_BUCKET is missing',
      'CADASTRE_S3_PATH_STYLE: set, but CADASTRE_S3_BUCKET is missing',
    ]);
  });

  it('are refused with all invalid settings at once, without the values of secrets', () => {
    const secret = 'hunter2:swordfish';
    const lines = linesOf({
      PORT: 'http',
      CADASTRE_ADMIN_TOKEN: secret,
      CADASTRE_ENCRYPTION_KEY: secret,
      DATABASE_URL: `mysql://root:${secret}@db`,
      CADASTRE_TLS: 'on',
      KAFKA_BROKERS: 'one',
      CADASTRE_TLS_CERT: cert,
    });
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'PORT',
      'CADASTRE_TLS',
      'CADASTRE_ADMIN_TOKEN',
      'DATABASE_URL',
      'KAFKA_BROKERS',
      'CADASTRE_ENCRYPTION_KEY',
      'CADASTRE_TLS_KEY',
    ]);
    expect(lines.join('\n')).not.toMatch(/hunter2|swordfish/);
  });

  it('are all listed in the help', () => {
    const help = formatSettingsHelp();
    for (const name of ['HOST', 'PORT', 'CADASTRE_DATA', 'DATABASE_URL', 'CADASTRE_ENCRYPTION_KEY', 'LOG_LEVEL']) {
      expect(help).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    }
    for (const name of ['CADASTRE_ADMIN_TOKEN', 'DATABASE_URL', 'KAFKA_SASL_PASSWORD', 'CADASTRE_ENCRYPTION_KEY']) {
      expect(help).toContain(`${name}_FILE`);
    }
  });
});
