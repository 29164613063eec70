import { existsSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { readOptionFile } from './option-file.js';
import type { NetworkError } from './transport.js';

/** Codes of OpenSSL for a certificate whose authority is not trusted. */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Returns the certificate file of the authority of `cadastre serve` (libs/platform/host/certificates/local-ca.ts), if it exists.
 */
const findLocalAuthority = (): string | null => {
  const file = join(process.env['CADASTRE_DATA'] ?? '.cadastre', 'tls/ca.pem');
  return existsSync(file) ? file : null;
};

/** Trusts the authorities of this machine, as terraform does, and the one in the file. Applies to the whole process. */
export const trustCertificateAuthorities = async (caFile: string | undefined): Promise<void> => {
  const authorities = caFile === undefined ? [] : [await readOptionFile(caFile, '--ca')];
  tls.setDefaultCACertificates([
    ...tls.getCACertificates('default'),
    ...tls.getCACertificates('system'),
    ...authorities,
  ]);
};

/** Describes a TLS trust failure, or returns null. A retry cannot help. */
export const describeTrustFailure = ({ code = '', message }: NetworkError, { host }: URL): string | null => {
  if (UNKNOWN_AUTHORITY.has(code)) {
    const local = findLocalAuthority();
    const how = local ? `If this is the Cadastre of this folder: --ca ${local}` : 'Name its certificate with --ca FILE';
    return `${host}: its certificate is from an authority that this machine does not trust. ${how}`;
  }
  const isCertificate = code.startsWith('ERR_TLS_') || code.startsWith('CERT_') || code.startsWith('ERR_SSL_');
  return isCertificate ? `${host}: the TLS connection failed: ${message}` : null;
};
