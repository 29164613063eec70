import { z } from 'zod';
import { isHost, isLoopback } from './host-names.js';
import { isEndpoint, isPort, listOf, matching, onOff, secretVariable, urlOf } from './variable-forms.js';
import { variable } from './variable.js';

/** The client's secret goes there, so that plain HTTP must not leave the machine. */
const isTokenUrl = (text: string): boolean => {
  const url = urlOf(text);
  return isEndpoint(text) && !!url && (url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, '')));
};

const SASL_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;

const isBroker = (text: string): boolean => {
  const [, host = '', port = ''] = /^(?:\[?)(.+?)(?:\]?):(\d+)$/.exec(text) ?? [];
  return isHost(host) && isPort(port);
};

const brokers = listOf(isBroker, 'host:port');

/** How Cadastre reaches Kafka, and what it calls its topics. */
export const kafkaVariables = {
  KAFKA_BROKERS: variable(
    '–',
    'comma-separated list of host:port; without it nothing is published',
    brokers.exactOptional(),
  ),
  KAFKA_TLS: variable('off', 'on: connections to the brokers use TLS', onOff('off')),
  KAFKA_TLS_CA: variable(
    'authorities that Node trusts',
    'file with the certificates of the authorities that sign certificates of the brokers (PEM)',
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
    'prefix of the names of all Kafka topics',
    z
      .string()
      // Kafka allows 249 characters in all, and a suffix is to come.
      .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/, 'must be letters, digits, dots, underscores and hyphens')
      .default('cadastre'),
  ),
} as const;
