import { readAcceptedKey } from '#registry/provider-release';
import type { Resource } from '#api/json-api';
import type { GpgKeyRow } from './gpg-keys.queries.js';

export const renderGpgKey = async ({
  id,
  namespace,
  keyId,
  asciiArmor,
  createdAt,
  updatedAt,
}: GpgKeyRow): Promise<Resource> => {
  const { algorithm, expiresAt, firstTerraform } = await readAcceptedKey(asciiArmor);
  return {
    id,
    type: 'gpg-keys',
    attributes: {
      'ascii-armor': asciiArmor,
      'key-id': keyId,
      algorithm,
      'expires-at': expiresAt,
      'minimum-terraform-version': firstTerraform,
      namespace,
      // Set for keys of partners that HashiCorp has signed; no key here is one.
      source: '',
      'source-url': null,
      'trust-signature': '',
      'created-at': createdAt,
      'updated-at': updatedAt,
    },
    links: { self: `/api/registry/private/v2/gpg-keys/${namespace}/${keyId}` },
  };
};
