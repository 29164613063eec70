import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair } from 'jose';
import type { OidcPublicKey } from './oidc-keys.js';

export const ALGORITHM = 'RS256';

/** Creates an RSA key of 2,048 bits. AWS, Google, Azure, Vault and Kubernetes all verify RS256. The private key is PKCS #8 in PEM. */
export const createKeyPair = async (): Promise<{ readonly key: OidcPublicKey; readonly privateKey: string }> => {
  const pair = await generateKeyPair(ALGORITHM, { modulusLength: 2048, extractable: true });
  const { n = '', e = '' } = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e });
  const key = { kty: 'RSA', kid, use: 'sig', alg: ALGORITHM, n, e } as const;
  return { key, privateKey: await exportPKCS8(pair.privateKey) };
};
