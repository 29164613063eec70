import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  encodeTimeStampRequest,
  TimeStampError,
  verifyTimeStampResponse,
  type VerifiedTimeStamp,
} from '#packages/trail-verifier';
import { createOutboundFetch, OutboundError } from '#platform/outbound';
import { parsePemCertificates, type TimeStampSettings } from '#platform/settings';
import type { Clock } from '#platform/kernel';

/** A time stamp, and the answer that contains it. */
export type ReceivedTimeStamp = VerifiedTimeStamp & { readonly response: Buffer };

/** Bytes of the largest answer. Usual ones have 2 to 6 KB, with the certificates. */
const MAX_RESPONSE_BYTES = 32_768;
const TIMEOUT_MS = 10_000;

/**
 * Returns a function that lets the authority stamp bytes, and verifies the answer. It throws TimeStampError. Only an
 * administrator of the site chooses the address.
 */
export const createTimeStampClient = (
  { url, caFile, policy }: TimeStampSettings,
  clock: Clock,
): ((stamped: Buffer) => Promise<ReceivedTimeStamp>) => {
  const trusted = parsePemCertificates(readFileSync(caFile, 'utf8'));
  const send = createOutboundFetch({ privateHosts: null, maxBytes: MAX_RESPONSE_BYTES, timeoutMs: TIMEOUT_MS });
  const request = async (body: Buffer): Promise<Buffer> => {
    try {
      const headers = { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' };
      const response = await send(url, { method: 'POST', headers, body });
      if (response.status === 200) return Buffer.from(await response.arrayBuffer());
      throw new TimeStampError('refused', `the authority answered with ${response.status}`);
    } catch (error) {
      if (error instanceof OutboundError) throw new TimeStampError('unreachable', error.message, { cause: error });
      throw error;
    }
  };
  return async (stamped) => {
    const query = { digest: hash('sha256', stamped, 'buffer'), nonce: createNonce(), policy };
    const response = await request(encodeTimeStampRequest(query));
    return { ...verifyTimeStampResponse(response, query, { trusted, now: clock.now() }), response };
  };
};

/** Returns the content of a DER integer of 8 bytes: positive, and without superfluous bytes. */
const createNonce = (): Buffer => {
  const nonce = randomBytes(8);
  nonce[0] = 0x40 | ((nonce[0] ?? 0) & 0x3f);
  return nonce;
};
