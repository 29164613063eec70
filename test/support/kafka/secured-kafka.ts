import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  issueCa,
  issueServerCertificate,
  type KeyAndCertificate,
} from '../../../libs/platform/host/certificates/certificates.js';
import { DATA } from '../folders.js';
import { freePorts } from '../free-ports.js';
import { issueClientCertificate } from './client-certificate.js';
import { startWithUsers } from './java-broker.js';
import type { TestKafka } from '../servers/servers.js';

/** A broker with three listeners: plain text for the test itself, TLS with SASL, and TLS with client certificates. */
export type SecuredKafka = TestKafka & {
  readonly saslBrokers: readonly string[];
  readonly certificateBrokers: readonly string[];
  readonly username: string;
  readonly password: string;
  /**
   * PEM files: the authority that signed the broker's certificate, another authority, and a client's certificate with
   * its key.
   */
  readonly files: { readonly ca: string; readonly otherCa: string; readonly certificate: string; readonly key: string };
};

const USERNAME = 'cadastre';
const MODULES = 'org.apache.kafka.common.security';

/** Starts the broker on Java, because the Docker image cannot be configured in this way. */
export const startSecuredKafka = async (): Promise<SecuredKafka> => {
  const folder = await mkdtemp(join(DATA, 'cadastre-kafka-'));
  const now = new Date();
  const [ca, otherCa] = await Promise.all([issueCa(now), issueCa(now)]);
  const write = async (name: string, content: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, content);
    return file;
  };
  const keyStore = await write('broker.pem', joined(await issueServerCertificate(ca, ['127.0.0.1', 'localhost'], now)));
  const client = await issueClientCertificate(ca, now);
  const files = {
    ca: await write('ca.pem', ca.certificate),
    otherCa: await write('other-ca.pem', otherCa.certificate),
    certificate: await write('client.pem', client.certificate),
    key: await write('client.key', client.key),
  };
  const password = 'correct-horse-battery';
  const [saslPort, certificatePort] = await freePorts();
  const broker = await startWithUsers(
    folder,
    {
      listeners: {
        SASL: { protocol: 'SASL_SSL', port: saslPort },
        CERTIFICATE: { protocol: 'SSL', port: certificatePort },
      },
      more: {
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': keyStore,
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': files.ca,
        'listener.name.certificate.ssl.client.auth': 'required',
        'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
        'listener.name.sasl.plain.sasl.jaas.config': `${MODULES}.plain.PlainLoginModule required user_${USERNAME}="${password}";`,
        'listener.name.sasl.scram-sha-256.sasl.jaas.config': `${MODULES}.scram.ScramLoginModule required;`,
        'listener.name.sasl.scram-sha-512.sasl.jaas.config': `${MODULES}.scram.ScramLoginModule required;`,
        // Accepts tokens without a signature. The tests only need tokens with a lifetime.
        'listener.name.sasl.oauthbearer.sasl.jaas.config': `${MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
        // The broker closes connections whose token has expired.
        'listener.name.sasl.oauthbearer.connections.max.reauth.ms': 3_600_000,
      },
    },
    [{ name: USERNAME, password }],
  );
  return {
    ...broker,
    saslBrokers: [`127.0.0.1:${saslPort}`],
    certificateBrokers: [`127.0.0.1:${certificatePort}`],
    username: USERNAME,
    password,
    files,
  };
};

const joined = ({ key, certificate }: KeyAndCertificate): string => `${key.trim()}\n${certificate.trim()}\n`;
