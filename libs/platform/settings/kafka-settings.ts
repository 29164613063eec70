import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findFileFault } from './pem-files.js';
import type { EnvironmentValues } from './secret-files.js';
import type { environment } from './variables.js';
import type { z } from 'zod';

type KafkaEnvironment = z.output<typeof environment>;

export type KafkaSettings = {
  readonly brokers: readonly string[];
  readonly topicPrefix: string;
  /** For topics that do not exist yet, and for the comparison with those that do. Null: see `KAFKA_TOPIC_…`. */
  readonly topics: {
    readonly partitions: number;
    readonly replicas: number | null;
    readonly retentionDays: number | null;
  };
  /** Mode of the messages, as the Kafka binding of CloudEvents names it. */
  readonly cloudEvents: 'binary' | 'structured';
  /**
   * Absolute paths of PEM files. With a null CA, Node's default authorities are trusted. Null for connections without
   * TLS.
   */
  readonly tls: { readonly ca: string | null; readonly certificate: string | null; readonly key: string | null } | null;
  readonly sasl: KafkaSasl | null;
};

type KafkaSasl =
  | {
      readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'OAUTHBEARER';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope: string | null;
    };

type Name = keyof KafkaEnvironment & `KAFKA_${string}`;

const TLS_FILES = ['KAFKA_TLS_CA', 'KAFKA_TLS_CERT', 'KAFKA_TLS_KEY'] as const satisfies readonly Name[];
const PASSWORD = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const satisfies readonly Name[];
const CLIENT = [
  'KAFKA_SASL_TOKEN_URL',
  'KAFKA_SASL_CLIENT_ID',
  'KAFKA_SASL_CLIENT_SECRET',
] as const satisfies readonly Name[];
const KAFKA_VARIABLES = [
  'KAFKA_TLS',
  ...TLS_FILES,
  'KAFKA_SASL_MECHANISM',
  ...PASSWORD,
  ...CLIENT,
  'KAFKA_SASL_SCOPE',
  'KAFKA_TOPIC_PARTITIONS',
  'KAFKA_TOPIC_REPLICAS',
  'KAFKA_TOPIC_RETENTION_DAYS',
  'KAFKA_CLOUD_EVENTS',
] as const satisfies readonly Name[];

/** Returns one line for each setting of Kafka that contradicts another one, or whose file cannot be used. */
export const findKafkaContradictions = (env: EnvironmentValues): readonly string[] => {
  if (!env['KAFKA_BROKERS']) {
    return KAFKA_VARIABLES.filter((name) => env[name] && env[name] !== 'off').map(
      (name) => `${name}: set, but KAFKA_BROKERS is missing`,
    );
  }
  return [...findKafkaTlsContradictions(env), ...findSaslContradictions(env)];
};

const findKafkaTlsContradictions = (env: EnvironmentValues): readonly string[] => {
  if (env['KAFKA_TLS'] !== 'on') {
    return TLS_FILES.filter((name) => env[name]).map((name) => `${name}: set, but KAFKA_TLS is not on`);
  }
  const [ca, cert, key] = TLS_FILES.map((name) => env[name]);
  const lines = [
    ...(cert && !key ? ['KAFKA_TLS_KEY: missing, KAFKA_TLS_CERT needs it'] : []),
    ...(key && !cert ? ['KAFKA_TLS_CERT: missing, KAFKA_TLS_KEY needs it'] : []),
    ...findFileFault('KAFKA_TLS_CA', ca, 'PEM certificates', (text) => new X509Certificate(text)),
    ...findFileFault('KAFKA_TLS_CERT', cert, 'PEM certificates', (text) => new X509Certificate(text)),
    ...findFileFault('KAFKA_TLS_KEY', key, 'a PEM private key without a passphrase', (text) => createPrivateKey(text)),
  ];
  if (lines.length > 0 || !cert || !key) return lines;
  const matches = new X509Certificate(readFileSync(cert)).checkPrivateKey(createPrivateKey(readFileSync(key, 'utf8')));
  return matches ? [] : ['KAFKA_TLS_KEY: this is not the key of the certificate in KAFKA_TLS_CERT'];
};

const findSaslContradictions = (env: EnvironmentValues): readonly string[] => {
  const mechanism = env['KAFKA_SASL_MECHANISM'];
  const onlyPresent = (names: readonly Name[]): readonly Name[] => names.filter((name) => env[name]);
  const needed = (names: readonly Name[]): readonly string[] =>
    names.filter((name) => !env[name]).map((name) => `${name}: missing, KAFKA_SASL_MECHANISM=${mechanism} needs it`);
  const unused = (names: readonly Name[]): readonly string[] =>
    onlyPresent(names).map((name) => `${name}: set, but KAFKA_SASL_MECHANISM=${mechanism} does not use it`);
  switch (mechanism) {
    case undefined:
      return onlyPresent([...PASSWORD, ...CLIENT, 'KAFKA_SASL_SCOPE']).map(
        (name) => `${name}: set, but KAFKA_SASL_MECHANISM is missing`,
      );
    case 'OAUTHBEARER':
      return [...needed(CLIENT), ...unused(PASSWORD)];
    case 'PLAIN':
    case 'SCRAM-SHA-256':
    case 'SCRAM-SHA-512':
      return [...needed(PASSWORD), ...unused([...CLIENT, 'KAFKA_SASL_SCOPE'])];
    default:
      // Already reported: the mechanism is not one of the accepted ones.
      return [];
  }
};

/** Returns null if no brokers are configured. The settings must contain no contradictions. */
export const toKafkaSettings = (env: KafkaEnvironment): KafkaSettings | null => {
  if (!env.KAFKA_BROKERS) return null;
  return {
    brokers: env.KAFKA_BROKERS,
    topicPrefix: env.CADASTRE_TOPIC_PREFIX,
    topics: {
      partitions: env.KAFKA_TOPIC_PARTITIONS,
      replicas: env.KAFKA_TOPIC_REPLICAS ?? null,
      retentionDays: env.KAFKA_TOPIC_RETENTION_DAYS,
    },
    cloudEvents: env.KAFKA_CLOUD_EVENTS,
    tls: env.KAFKA_TLS
      ? {
          ca: toAbsolutePath(env.KAFKA_TLS_CA),
          certificate: toAbsolutePath(env.KAFKA_TLS_CERT),
          key: toAbsolutePath(env.KAFKA_TLS_KEY),
        }
      : null,
    sasl: toSaslSettings(env),
  };
};

const toAbsolutePath = (path: string | undefined): string | null => (path === undefined ? null : resolve(path));

const toSaslSettings = (env: KafkaEnvironment): KafkaSasl | null => {
  const mechanism = env.KAFKA_SASL_MECHANISM;
  if (mechanism === undefined) return null;
  if (mechanism === 'OAUTHBEARER') {
    return {
      mechanism,
      tokenUrl: env.KAFKA_SASL_TOKEN_URL ?? '',
      clientId: env.KAFKA_SASL_CLIENT_ID ?? '',
      clientSecret: env.KAFKA_SASL_CLIENT_SECRET ?? '',
      scope: env.KAFKA_SASL_SCOPE ?? null,
    };
  }
  return { mechanism, username: env.KAFKA_SASL_USERNAME ?? '', password: env.KAFKA_SASL_PASSWORD ?? '' };
};
