import type { Resource } from '#json-api';
import type { GpgKeyRow } from './gpg-keys.queries.js';

export const renderGpgKey = ({ id, namespace, keyId, asciiArmor, createdAt, updatedAt }: GpgKeyRow): Resource => ({
  id,
  type: 'gpg-keys',
  attributes: {
    'ascii-armor': asciiArmor,
    'key-id': keyId,
    namespace,
    // Set for keys of partners that HashiCorp has signed; no key here is one (clients.md §5).
    source: '',
    'source-url': null,
    'trust-signature': '',
    'created-at': createdAt,
    'updated-at': updatedAt,
  },
  links: { self: `/api/registry/private/v2/gpg-keys/${namespace}/${keyId}` },
});
