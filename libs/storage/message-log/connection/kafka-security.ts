import { readFileSync } from 'node:fs';
import type { KafkaConfig } from 'kafkajs';
import { createOauthBearerMechanism } from './oauth-bearer.js';
import { createTokenSource, type ClientCredentials } from './oauth-token.js';

/** Encryption and authentication of connections to the brokers. */
export type KafkaSecurity = {
  /** Paths of PEM files. With a null CA, Node's default authorities are trusted. Null for connections without TLS. */
  readonly tls: { readonly ca: string | null; readonly certificate: string | null; readonly key: string | null } | null;
  readonly sasl:
    | {
        readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
        readonly username: string;
        readonly password: string;
      }
    | ({ readonly mechanism: 'OAUTHBEARER' } & ClientCredentials)
    | null;
};

/** Returns the options of a Kafka connection. Reads the PEM files. */
export const buildSecurityOptions = ({ tls, sasl }: KafkaSecurity): Pick<KafkaConfig, 'ssl' | 'sasl'> => ({
  ...(tls ? { ssl: tlsOptions(tls) } : {}),
  ...(sasl ? { sasl: saslOptions(sasl) } : {}),
});

const tlsOptions = ({ ca, certificate, key }: NonNullable<KafkaSecurity['tls']>): NonNullable<KafkaConfig['ssl']> => ({
  ...(ca === null ? {} : { ca: readFileSync(ca, 'utf8') }),
  ...(certificate === null ? {} : { cert: readFileSync(certificate, 'utf8') }),
  ...(key === null ? {} : { key: readFileSync(key, 'utf8') }),
});

const saslOptions = (sasl: NonNullable<KafkaSecurity['sasl']>): NonNullable<KafkaConfig['sasl']> => {
  if (sasl.mechanism === 'OAUTHBEARER') return createOauthBearerMechanism(createTokenSource(sasl));
  const { username, password } = sasl;
  switch (sasl.mechanism) {
    case 'PLAIN':
      return { mechanism: 'plain', username, password };
    case 'SCRAM-SHA-256':
      return { mechanism: 'scram-sha-256', username, password };
    case 'SCRAM-SHA-512':
      return { mechanism: 'scram-sha-512', username, password };
  }
};
