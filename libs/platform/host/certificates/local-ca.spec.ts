import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { isIP, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { checkServerIdentity, connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { listCertificateNames, ensureLocalCertificates, type LocalCertificates } from './local-ca.js';
import { getErrorCode } from '#platform/kernel';
import { removeFolder, createTemporaryFolder } from '../spec.js';

const DAY = 24 * 60 * 60 * 1000;
const names = listCertificateNames('tf.internal', 'https://[2001:db8::7]:8443', 'My-Laptop.local');

/** Connects with a client that trusts only the CA. Returns `trusted` or the error code. */
const handshake = async ({ key, cert }: LocalCertificates, ca: string, name: string): Promise<string> => {
  const server = createServer({ key, cert }, (socket) => socket.end());
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca,
    // An IP address is not sent as a server name, but the certificate must contain it.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_, peer) => checkServerIdentity(name, peer),
  });
  try {
    await once(socket, 'secureConnect');
    return 'trusted';
  } catch (error) {
    return getErrorCode(error) ?? String(error);
  } finally {
    socket.destroy();
    server.close();
  }
};

describe('the local CA', () => {
  let folder: string;
  const clock = new FixedClock();
  beforeEach(async () => {
    folder = join(await createTemporaryFolder(), 'tls');
    clock.time = Date.now();
  });
  afterEach(() => removeFolder(join(folder, '..')));

  const issue = (someNames = names) => ensureLocalCertificates(folder, someNames, clock);
  const caPem = () => readFile(join(folder, 'ca.pem'), 'utf8');

  it('lists every name of the server, without wildcards', () => {
    expect(names).toEqual(['localhost', '127.0.0.1', '::1', 'my-laptop.local', 'tf.internal', '2001:db8::7']);
    expect(listCertificateNames('0.0.0.0', 'https://localhost:1', 'not_a_host')).toEqual([
      'localhost',
      '127.0.0.1',
      '::1',
    ]);
  });

  it('is trusted for each of these names, and for no other', async () => {
    const certificates = await issue();
    const ca = await caPem();
    for (const name of names) expect(await handshake(certificates, ca, name)).toBe('trusted');
    expect(await handshake(certificates, ca, 'elsewhere.example')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('is required: a client without it does not trust the server', async () => {
    const certificates = await issue();
    await rm(folder, { recursive: true });
    await issue();
    expect(await handshake(certificates, await caPem(), 'localhost')).toMatch(
      /UNABLE_TO_VERIFY|CERT_SIGNATURE_FAILURE|SELF_SIGNED/,
    );
  });

  it('makes its keys readable for the owner only', async () => {
    await issue();
    for (const file of ['ca-key.pem', 'server-key.pem']) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    }
  });

  it('issues certificates for as long as verifiers allow', async () => {
    const { cert } = await issue();
    const days = (pem: string): number => {
      const { validFromDate, validToDate } = new X509Certificate(pem);
      return (validToDate.getTime() - validFromDate.getTime()) / DAY;
    };
    expect(days(cert)).toBeLessThanOrEqual(825);
    expect(days(await caPem())).toBe(3650);
  });

  it('issues nothing new before a renewal is due', async () => {
    const first = await issue();
    clock.time = first.expires.getTime() - 31 * DAY;
    expect(await issue()).toEqual(first);
  });

  it('renews the server’s certificate 30 days before its end, without a change for clients', async () => {
    const first = await issue();
    const ca = await caPem();
    clock.time = first.expires.getTime() - 29 * DAY;
    const second = await issue();
    expect(second.expires.getTime()).toBeGreaterThan(first.expires.getTime());
    expect(await caPem()).toBe(ca);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
  });

  it('renews itself and the server’s certificate when its own end is near', async () => {
    const first = await issue();
    const ca = new X509Certificate(await caPem());
    clock.time = ca.validToDate.getTime() - 100 * DAY;
    const capped = await issue();
    expect(capped.expires).toEqual(ca.validToDate);
    clock.time = ca.validToDate.getTime() - 10 * DAY;
    const second = await issue();
    const newCa = new X509Certificate(await caPem());
    expect(newCa.fingerprint256).not.toBe(ca.fingerprint256);
    expect(new X509Certificate(second.cert).verify(newCa.publicKey)).toBe(true);
    expect(second.cert).not.toBe(first.cert);
  });

  it('issues a new certificate if the names have changed or a key is missing', async () => {
    const first = await issue();
    const second = await issue([...names, 'new.internal']);
    expect(second.cert).not.toBe(first.cert);
    await rm(join(folder, 'server-key.pem'));
    const third = await issue([...names, 'new.internal']);
    expect(third.key).not.toBe(second.key);
    expect(await handshake(third, await caPem(), 'new.internal')).toBe('trusted');
  });
});
