import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
  requiredParameter,
} from '#api/json-api/description';
import { createBody, GpgKeysController, updateBody } from './gpg-keys.controller.js';
import { EXAMPLE_ARMOR } from './gpg-keys.schema.js';

const GPG_KEYS = { name: 'GPG keys', description: 'Public keys that sign versions of providers.' };

const path = {
  namespace: { description: 'The name of the organization.', example: 'acme' },
  keyId: { description: 'The id of the key, in hexadecimal digits of any case.', example: '34365D9472D7468F' },
};

export const gpgKeysOperations = describeController(GpgKeysController, GPG_KEYS, {
  list: {
    operationId: 'listGpgKeys',
    summary: 'List the GPG keys of organizations',
    description: 'The list has the keys that you may read.',
    query: {
      ...pageParameters(),
      'filter[namespace]': requiredParameter('The names of the organizations. Separate names with commas.'),
    },
    answer: describePage('GpgKey'),
  },
  create: {
    operationId: 'createGpgKey',
    summary: 'Add a GPG key to an organization',
    description:
      'If the organization has the key already, a later copy of the same key replaces the present text, for example a copy that ends later or has another subkey.',
    body: describeBody(createBody, {
      data: { type: 'gpg-keys', attributes: { namespace: 'acme', 'ascii-armor': EXAMPLE_ARMOR } },
    }),
    answer: describeDocument('GpgKey'),
    refusals: {
      unprocessable:
        'The text is not a valid public key, or the organization has this text already, or a text that would lose signatures.',
    },
    events: ['GpgKeyAdded', 'GpgKeyRenewed'],
  },
  show: { operationId: 'getGpgKey', summary: 'Show a GPG key', path, answer: describeDocument('GpgKey') },
  update: {
    operationId: 'moveGpgKey',
    summary: 'Move a GPG key to another organization, or renew it',
    description:
      'In the other organization, the key has another id. `ascii-armor` replaces the text of the key by a later one of the same key. Without a change, the answer shows the key.',
    path,
    body: describeBody(updateBody, { data: { type: 'gpg-keys', attributes: { namespace: 'acme-labs' } } }),
    answer: describeDocument('GpgKey'),
    refusals: {
      forbidden: 'You may not manage keys of this or of the other organization, or the other one does not exist.',
      unprocessable: 'The other organization has this key already, or the text does not renew the key.',
    },
    events: ['GpgKeyRemoved', 'GpgKeyAdded', 'GpgKeyRenewed'],
  },
  destroy: { operationId: 'deleteGpgKey', summary: 'Delete a GPG key', path, answer: describeEmpty() },
});
