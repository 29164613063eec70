import type { Mechanism } from 'kafkajs';
import { z } from 'zod';
import { loadKafkajs } from './kafkajs.js';
import type { TokenSource } from './oauth-token.js';

// RFC 7628, section 3.2.2.
const refusal = z.object({ status: z.string().max(100) });

/**
 * Implements the SASL mechanism OAUTHBEARER (RFC 7628). The one in kafkajs takes a refused token for a success, and the
 * caller then gets only the error "Closed connection".
 */
export const createOauthBearerMechanism = (source: TokenSource): Mechanism => ({
  mechanism: 'oauthbearer',
  authenticationProvider: ({ saslAuthenticate }) => ({
    authenticate: async () => {
      const message = `n,,\u0001auth=Bearer ${await source.token()}\u0001\u0001`;
      const answer = await saslAuthenticate({
        request: { encode: () => withLength(Buffer.from(message)) },
        response: { decode: (raw) => raw.subarray(LENGTH_BYTES), parse: (data) => data.toString() },
      });
      if (!answer) return;
      source.discard();
      const { KafkaJSNonRetriableError } = loadKafkajs();
      throw new KafkaJSNonRetriableError(`SASL OAUTHBEARER authentication failed: ${parseStatus(answer)}`);
    },
  }),
});

const LENGTH_BYTES = 4;

/** kafkajs expects a length prefix, as in the protocol before Kafka 1.0. */
const withLength = (message: Buffer): Buffer => {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(message.length);
  return Buffer.concat([length, message]);
};

const parseStatus = (answer: string): string => {
  try {
    return refusal.parse(JSON.parse(answer)).status;
  } catch {
    return 'the brokers refused the token';
  }
};
