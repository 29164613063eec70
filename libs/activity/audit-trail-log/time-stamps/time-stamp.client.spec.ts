import { encodeTimeStampRequest, TimeStampError, verifyTimeStampResponse } from '#packages/trail-verifier';
import {
  contextTag,
  DER,
  DerReader,
  encodeDer,
  encodeObjectId,
} from '../../../packages/trail-verifier/time-stamps/der.js';
import { X509Certificate, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import {
  AUTHORITY_POLICY,
  OTHER_POLICY,
  startTimeStampAuthority,
  type TestTimeStampAuthority,
} from '../../../../test/support/time-stamp-authority.js';
import { createTimeStampClient } from './time-stamp.client.js';

const STAMPED = Buffer.from('cadastre.example.com/audit-trail-log\n1\nroot\n');

let authority: TestTimeStampAuthority;
let honest: TestTimeStampAuthority['answer'];
const clock = new AdjustableClock();

beforeAll(async () => {
  authority = await startTimeStampAuthority();
  honest = authority.answer;
});
afterEach(() => {
  authority.answer = honest;
  clock.offsetMs = 0;
});
afterAll(() => authority.close());

const stamp = (more: { readonly policy?: string; readonly caFile?: string; readonly url?: string } = {}) => {
  const { url, caFile } = authority;
  return createTimeStampClient({ url, caFile, policy: null, intervalMs: 1, ...more }, clock)(STAMPED);
};

/** Returns the digest and the nonce of a request, as the authority reads them. */
const parseRequest = (request: Buffer) => {
  const members = DerReader.open(request);
  members.content(DER.integer);
  const imprint = members.open();
  imprint.algorithm();
  members.optional(DER.objectId);
  return { digest: imprint.content(DER.octetString), nonce: members.content(DER.integer) };
};

describe('a time stamp', () => {
  it('names the authority and the time, and openssl verifies it', async () => {
    const before = Date.now();
    const { authority: name, policy, stampedAt, response } = await stamp();
    expect([name, policy]).toEqual(['stamps', AUTHORITY_POLICY]);
    // The authority has whole seconds.
    expect(stampedAt.getTime()).toBeGreaterThan(before - 1_001);
    expect(await authority.verify(STAMPED, response)).toBe('Verification: OK');
    await expect(authority.verify(Buffer.from('other bytes'), response)).rejects.toThrow(/message imprint mismatch/);
    await expect(authority.verify(STAMPED, response, 'other.pem')).rejects.toThrow(/certificate verify error/);
  });

  it('has the policy that was requested', async () => {
    expect(await stamp({ policy: OTHER_POLICY })).toMatchObject({ policy: OTHER_POLICY });
  });

  it('can have an extension that is not critical', async () => {
    authority.answer = async (request) => ({
      body: await authority.signInfo(await addExtension(await authority.reply(request)), 'stamps'),
    });
    expect(await stamp()).toMatchObject({ authority: 'stamps' });
  });

  it('can lead to the second certificate of the file', async () => {
    const other = await readFile(authority.caFile.replace(/root\.pem$/, 'other.pem'), 'utf8');
    const caFile = `${authority.caFile}.both`;
    await writeFile(caFile, `other:\n${other}\nroot:\n${await readFile(authority.caFile, 'utf8')}`);
    expect(await stamp({ caFile })).toMatchObject({ authority: 'stamps' });
  });

  it.each([
    ['an elliptic key, below an intermediate certificate', ['-certfile', 'between.pem'], 'issued'],
    ['a key that is only for signatures', [], 'signs'],
    ['SHA-512', ['-md', 'sha512'], 'stamps'],
    ['the key identifier instead of the serial number', ['-keyid'], 'stamps'],
  ] as const)('can be signed with %s', async (_, options, signer) => {
    authority.answer = async (request) => ({
      body: await authority.signAs(await authority.reply(request), signer, ...options),
    });
    expect(await stamp()).toMatchObject({ authority: signer });
  });
});

const TRUE = Buffer.of(0xff);

const appendMember = (info: Buffer, member: Buffer): Buffer =>
  encodeDer(DER.sequence, ...DerReader.open(info).all(), member);

/** Returns the signed content of an answer with an extension. */
const addExtension = async (response: Buffer, ...criticality: readonly Buffer[]): Promise<Buffer> => {
  const value = encodeDer(DER.octetString, Buffer.of(5, 0));
  const extension = encodeDer(DER.sequence, encodeObjectId('1.2.3'), ...criticality, value);
  return appendMember(await authority.readInfo(response), encodeDer(contextTag(1), extension));
};

type Forge = (request: Buffer) => Promise<Buffer>;

const replaceByte = (bytes: Buffer, at: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
};

describe('an answer is refused', () => {
  const other = randomBytes(32);
  const forged: Readonly<Record<string, readonly [forge: Forge, message: RegExp]>> = {
    'with the nonce of another request': [
      (request) =>
        authority.reply(encodeTimeStampRequest({ ...parseRequest(request), nonce: Buffer.of(7), policy: null })),
      /^the time stamp answers another request$/,
    ],
    'for other bytes': [
      (request) => authority.reply(encodeTimeStampRequest({ ...parseRequest(request), digest: other, policy: null })),
      /^the time stamp is for other bytes$/,
    ],
    'with another policy': [
      (request) =>
        authority.reply(encodeTimeStampRequest({ ...parseRequest(request), policy: null }), '-tspolicy', OTHER_POLICY),
      /^the time stamp has another policy than CADASTRE_TIME_STAMP_POLICY$/,
    ],
    'with a signature with SHA-1': [
      (request) => authority.reply(request, '-sha1'),
      /an algorithm that is not accepted$/,
    ],
    'with an expired certificate': [
      async (request) => authority.signAs(await authority.reply(request), 'expired'),
      /^a certificate of the authority was not valid at the time of the stamp$/,
    ],
    'with a certificate of another authority': [
      async (request) => authority.signAs(await authority.reply(request), 'foreign', '-certfile', 'other.pem'),
      /is not issued by a certificate in CADASTRE_TIME_STAMP_CA$/,
    ],
    'with a certificate of servers': [
      async (request) => authority.signAs(await authority.reply(request), 'servers'),
      /^the certificate of the authority is not only for time stamps$/,
    ],
    'with an unknown critical extension': [
      async (request) => authority.signAs(await authority.reply(request), 'strange'),
      /has the unknown critical extension 2\.5\.29\.30$/,
    ],
    'with a key that also encrypts': [
      async (request) => authority.signAs(await authority.reply(request), 'encrypts'),
      /^the certificate of the authority is not only for signatures$/,
    ],
    'below an issuer with an RSA key of 1024 bits': [
      async (request) =>
        authority.signAs(await authority.reply(request), 'below-weak', '-certfile', 'between-weak.pem'),
      /is not issued by a certificate in CADASTRE_TIME_STAMP_CA$/,
    ],
    'with an RSA key of 1024 bits': [
      async (request) => authority.signAs(await authority.reply(request), 'weak'),
      /a key that is not accepted$/,
    ],
    'without the intermediate certificate': [
      async (request) => authority.signAs(await authority.reply(request), 'issued'),
      /is not issued by a certificate in CADASTRE_TIME_STAMP_CA$/,
    ],
    'without a certificate': [
      async (request) => authority.signAs(await authority.reply(request), 'stamps', '-nocerts'),
      /^the answer does not contain the certificate of the authority$/,
    ],
    'with the signatures of two signers': [
      async (request) =>
        authority.signAs(await authority.reply(request), 'stamps', '-signer', 'foreign.pem', '-inkey', 'foreign.key'),
      /^the answer of the authority is no time stamp$/,
    ],
    'with a critical extension of the signed content': [
      async (request) =>
        authority.signInfo(await addExtension(await authority.reply(request), encodeDer(DER.boolean, TRUE)), 'stamps'),
      /^the time stamp has the unknown critical extension 1\.2\.3$/,
    ],
    'with further members of the signed content': [
      async (request) => {
        const info = await authority.readInfo(await authority.reply(request));
        return authority.signInfo(appendMember(info, encodeDer(DER.integer, Buffer.of(1))), 'stamps');
      },
      /^the answer of the authority is no time stamp$/,
    ],
    'with a wrong signature': [
      async (request) => {
        const response = await authority.reply(request);
        return replaceByte(response, response.length - 1);
      },
      /^the signature of the time stamp is wrong$/,
    ],
    'with another time than the signed one': [
      async (request) => {
        const response = await authority.reply(request);
        return replaceByte(response, response.indexOf(Buffer.from('Z')) - 1);
      },
      /^the signature of the time stamp is wrong$/,
    ],
    'with bytes after its end': [
      async (request) => Buffer.concat([await authority.reply(request), Buffer.of(0)]),
      /^the answer of the authority is no time stamp$/,
    ],
    'if it is nested deeply': [
      async () => Buffer.alloc(30_000, 0x30),
      /^the answer of the authority is no time stamp$/,
    ],
    'if it is empty': [async () => Buffer.alloc(0), /^the answer of the authority is no time stamp$/],
    'if it rejects the request': [
      async () => encodeDer(DER.sequence, encodeDer(DER.sequence, encodeDer(DER.integer, Buffer.of(2)))),
      /^the authority refuses to stamp \(status 2\)$/,
    ],
    'if it rejects the policy': [
      (request) => authority.reply(encodeTimeStampRequest({ ...parseRequest(request), policy: '1.2.3.4.9' })),
      /^the authority refuses to stamp \(status 2, it does not support the policy\)$/,
    ],
    'if it rejects the request for two reasons': [
      async () => {
        const reasons = encodeDer(DER.bitString, Buffer.of(6, 0x20, 0, 0, 0x40));
        return encodeDer(DER.sequence, encodeDer(DER.sequence, encodeDer(DER.integer, Buffer.of(2)), reasons));
      },
      /^the authority refuses to stamp \(status 2, it does not support such a request, it has a failure\)$/,
    ],
  };

  it.each(Object.keys(forged))('%s', async (name) => {
    const [forge, message] = forged[name] ?? [];
    authority.answer = async (request) => ({ body: (await forge?.(request)) ?? Buffer.alloc(0) });
    await expect(stamp({ policy: AUTHORITY_POLICY })).rejects.toThrow(message);
  });

  it('or means the same if one of its bytes is changed, and is refused if bytes are cut off', async () => {
    const messages: Buffer[] = [];
    authority.answer = async (request) => {
      const body = await authority.reply(request);
      messages.push(request, body);
      return { body };
    };
    const { response: _, ...verified } = await stamp();
    const [request = Buffer.alloc(0), response = Buffer.alloc(0)] = messages;
    const trusted = [new X509Certificate(await readFile(authority.caFile))];
    const query = { ...parseRequest(request), policy: null };
    const failures: unknown[] = [];
    const verify = (bytes: Buffer) => {
      try {
        return verifyTimeStampResponse(bytes, query, { trusted, now: clock.now() });
      } catch (error) {
        failures.push(error);
        return null;
      }
    };
    const results = Array.from(response.keys(), (at) => verify(replaceByte(response, at)));
    const accepted = results.filter((result) => result !== null);
    // Nobody signs the status, the versions, the list of digests and the parameters of algorithms.
    expect(accepted.length).toBeLessThan(30);
    for (const result of accepted) expect(result).toEqual(verified);
    expect(Array.from(response.keys()).filter((at) => verify(response.subarray(0, at)) !== null)).toEqual([]);
    expect(failures.filter((error) => !(error instanceof TimeStampError))).toEqual([]);
  });

  it('if the clock of the site differs by more than an hour', async () => {
    clock.pass({ minutes: 61 });
    await expect(stamp()).rejects.toThrow(/^the time of the stamp differs by more than an hour/);
  });

  it('with another status than 200', async () => {
    authority.answer = async (request) => ({ status: 404, body: await authority.reply(request) });
    await expect(stamp()).rejects.toThrow(/^the authority answered with 404$/);
  });

  it('if it is huge', async () => {
    authority.answer = () => ({ body: Buffer.alloc(33_000) });
    await expect(stamp()).rejects.toThrow(/sent a response that is too large$/);
  });

  it('if it redirects', async () => {
    authority.answer = () => ({ status: 302, headers: { location: authority.url }, body: Buffer.alloc(0) });
    const { length } = authority.requests;
    await expect(stamp()).rejects.toThrow(/redirected the request, which is not permitted here$/);
    expect(authority.requests).toHaveLength(length + 1);
  });

  it('if nobody answers', async () => {
    const silent = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expect(stamp({ url: `http://127.0.0.1:${port}` })).rejects.toThrow(/could not be reached$/);
    silent.close();
    await once(silent, 'close');
  });

  it('if a file has no certificate that the authority leads to', async () => {
    const caFile = `${authority.caFile}.other`;
    await writeFile(caFile, await readFile(authority.caFile.replace(/root\.pem$/, 'other.pem')));
    await expect(stamp({ caFile })).rejects.toThrow(/is not issued by a certificate in CADASTRE_TIME_STAMP_CA$/);
  });
});
