import {
  always,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createBody, GpgKeysController, updateBody } from './gpg-keys.controller.js';

export const EXAMPLE_ARMOR = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZ7xO2RYJKwYBBAHaRw8BAQdA=
-----END PGP PUBLIC KEY BLOCK-----
`;

export const gpgKeySchema = defineResource({
  name: 'GpgKey',
  type: 'gpg-keys',
  description: 'A public key that signs versions of providers.',
  noun: 'GPG key',
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

const GPG_KEYS = {
  name: 'GPG keys',
  description: 'Public keys that sign versions of providers.',
  resource: gpgKeySchema,
  path: {
    namespace: { description: 'The name of the organization.', example: 'acme' },
    keyId: { description: 'The id of the key, in hexadecimal digits of any case.', example: '34365D9472D7468F' },
  },
};

export const gpgKeysOperations = describeController(GpgKeysController, GPG_KEYS, {
  list: {
    summary: 'List the GPG keys of organizations',
    description: 'The list has the keys that you may read.',
    query: { 'filter[namespace]': parameter.required('The names of the organizations. Separate names with commas.') },
  },
  create: {
    summary: 'Add a GPG key to an organization',
    description:
      'If the organization has the key already, a later copy of the same key replaces the present text, for example a copy that ends later or has another subkey.',
    body: describeResourceBody(createBody, { namespace: 'acme', 'ascii-armor': EXAMPLE_ARMOR }),
    refusals: {
      unprocessable:
        'The text is not a valid public key, or the organization has this text already, or a text that would lose signatures.',
    },
    events: ['GpgKeyAdded', 'GpgKeyRenewed'],
  },
  show: {},
  update: {
    operationId: 'moveGpgKey',
    summary: 'Move a GPG key to another organization, or renew it',
    description:
      'In the other organization, the key has another id. `ascii-armor` replaces the text of the key by a later one of the same key. Without a change, the answer shows the key.',
    body: describeResourceBody(updateBody, { namespace: 'acme-labs' }),
    refusals: {
      forbidden: 'You may not manage keys of this or of the other organization, or the other one does not exist.',
      unprocessable: 'The other organization has this key already, or the text does not renew the key.',
    },
  },
  destroy: {},
});
