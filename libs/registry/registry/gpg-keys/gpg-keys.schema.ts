import { always, defineResource, exampleText, serverPath, timestamp } from '#api/json-api/description';

export const EXAMPLE_ARMOR = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZ7xO2RYJKwYBBAHaRw8BAQdA=
-----END PGP PUBLIC KEY BLOCK-----
`;

export const gpgKeySchema = defineResource({
  name: 'GpgKey',
  type: 'gpg-keys',
  description: 'A public key that signs versions of providers.',
  exampleId: 'gpgkey-8Kx3vNbW2TqLs9Rf',
  attributes: {
    'ascii-armor': exampleText(EXAMPLE_ARMOR),
    'key-id': exampleText('34365D9472D7468F', 'The last 16 hexadecimal digits of the fingerprint.'),
    algorithm: exampleText('RSA', 'The kind of the key, for example `RSA`, `ed25519` or `NIST P-256`.').nullable(),
    'expires-at': timestamp('When the key ends; null if it has no end.').nullable(),
    'minimum-terraform-version': exampleText(
      '1.6',
      'The first Terraform version that reads the key. Earlier versions refuse files that it has signed. Null if all versions read it.',
    ).nullable(),
    namespace: exampleText('acme', 'The name of the organization.'),
    source: always(''),
    'source-url': always(null),
    'trust-signature': always(''),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
  links: { self: serverPath('/api/registry/private/v2/gpg-keys/acme/34365D9472D7468F') },
});
