import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  PemConverter,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { KeyAndCertificate } from '../../../libs/platform/host/certificates/certificates.js';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** Issues a client certificate that is valid for an hour before and after `now`. */
export const issueClientCertificate = async (ca: KeyAndCertificate, now: Date): Promise<KeyAndCertificate> => {
  const { subtle } = webcrypto;
  const keys = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const authority = new X509Certificate(ca.certificate);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: '01',
    subject: [{ CN: ['cadastre'] }],
    issuer: authority.subject,
    notBefore: new Date(now.getTime() - HOUR_MS),
    notAfter: new Date(now.getTime() + HOUR_MS),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await subtle.importKey('pkcs8', PemConverter.decodeFirst(ca.key), algorithm, false, ['sign']),
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
  const key = await subtle.exportKey('pkcs8', keys.privateKey);
  return { key: PemConverter.encode(key, PemConverter.PrivateKeyTag), certificate: certificate.toString('pem') };
};
