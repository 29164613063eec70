import { z } from 'zod';
import { isSecureAddress } from '#platform/kernel';
import { isHostOrAddress } from './host-names.js';
import {
  isPort,
  listSchema,
  matchingSchema,
  onOffSchema,
  oneOfSchema,
  wholeNumberSchema,
  defineSecretVariable,
} from './variable-schemas.js';
import { defineVariable } from './variable.js';

const SASL_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;

const isBroker = (text: string): boolean => {
  const [, host = '', port = ''] = /^(?:\[?)(.+?)(?:\]?):(\d+)$/.exec(text) ?? [];
  return isHostOrAddress(host) && isPort(port);
};

const brokers = listSchema(isBroker, 'host:port');

const MAX_PARTITIONS = 1_000;
const MAX_REPLICAS = 32;
const MAX_RETENTION_DAYS = 36_500;

const isWholeNumber = (text: string, most: number): boolean => /^[1-9]\d{0,5}$/.test(text) && Number(text) <= most;
const isReplicas = (text: string): boolean => isWholeNumber(text, MAX_REPLICAS);
const isRetention = (text: string): boolean => text === 'off' || isWholeNumber(text, MAX_RETENTION_DAYS);

export const kafkaVariables = {
  KAFKA_BROKERS: defineVariable(
    '–',
    'comma-separated list of host:port; without it nothing is published',
    brokers.exactOptional(),
  ),
  KAFKA_TLS: defineVariable('off', 'on: connections to the brokers use TLS', onOffSchema('off')),
  KAFKA_TLS_CA: defineVariable(
    'authorities that Node trusts',
    'file with the certificates of the authorities that sign certificates of the brokers (PEM)',
    z.string().exactOptional(),
  ),
  KAFKA_TLS_CERT: defineVariable(
    '–',
    'file with the client certificate for the brokers, and its chain (PEM)',
    z.string().exactOptional(),
  ),
  KAFKA_TLS_KEY: defineVariable(
    '–',
    'file with the key of that certificate (PEM, without a passphrase)',
    z.string().exactOptional(),
  ),
  KAFKA_SASL_MECHANISM: defineVariable(
    '–',
    'PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; without it connections do not authenticate',
    z.enum(SASL_MECHANISMS, `must be one of ${SASL_MECHANISMS.join(', ')}`).exactOptional(),
  ),
  KAFKA_SASL_USERNAME: defineVariable('–', 'user of PLAIN and SCRAM', z.string().exactOptional()),
  KAFKA_SASL_PASSWORD: defineSecretVariable('–', 'password of PLAIN and SCRAM', z.string().exactOptional()),
  KAFKA_SASL_TOKEN_URL: defineVariable(
    '–',
    'address of the OAuth 2.0 token endpoint for OAUTHBEARER',
    matchingSchema(
      // The client's secret is sent to this address.
      isSecureAddress,
      'must be https:// with a host, without user, password or query; http:// only for a loopback address',
    ).exactOptional(),
  ),
  KAFKA_SASL_CLIENT_ID: defineVariable(
    '–',
    'client for the token endpoint (client credentials)',
    z.string().exactOptional(),
  ),
  KAFKA_SASL_CLIENT_SECRET: defineSecretVariable('–', 'secret of that client', z.string().exactOptional()),
  KAFKA_SASL_SCOPE: defineVariable('–', 'scopes of the token, separated by spaces', z.string().exactOptional()),
  KAFKA_TOPIC_PARTITIONS: defineVariable(
    '6',
    'partitions of each topic; only for topics that do not exist yet',
    wholeNumberSchema(1, MAX_PARTITIONS, 6),
  ),
  KAFKA_TOPIC_REPLICAS: defineVariable(
    '3, or the number of brokers if there are fewer',
    'copies of each message; only for topics that do not exist yet',
    matchingSchema(isReplicas, `must be a whole number from 1 to ${MAX_REPLICAS}`).transform(Number).exactOptional(),
  ),
  KAFKA_TOPIC_RETENTION_DAYS: defineVariable(
    'off: for ever',
    'days after which Kafka deletes events; consumers that start later miss them',
    matchingSchema(isRetention, `must be a whole number from 1 to ${MAX_RETENTION_DAYS}, or off`)
      .transform((text) => (text === 'off' ? null : Number(text)))
      .default(null),
  ),
  KAFKA_CLOUD_EVENTS: defineVariable(
    'binary',
    'mode of the messages: binary (attributes are headers) or structured (one JSON document)',
    oneOfSchema(['binary', 'structured'], 'binary'),
  ),
  CADASTRE_TOPIC_PREFIX: defineVariable(
    'cadastre',
    'prefix of the names of all Kafka topics',
    z
      .string()
      // Kafka allows 249 characters, including a suffix.
      .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/, 'must be letters, digits, dots, underscores and hyphens')
      .default('cadastre'),
  ),
} as const;
