import {
  defineResource,
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  exampleText,
  pageParameters,
  serverPath,
} from '#api/json-api/description';
import { createBody, SshKeysController, updateBody } from './ssh-keys.controller.js';

export const sshKeySchema = defineResource({
  name: 'SshKey',
  type: 'ssh-keys',
  description: 'A private key of an organization. No response contains its text.',
  exampleId: 'sshkey-2bQx7VnKd9RtYpLc',
  attributes: { name: exampleText('deploy') },
  links: { self: serverPath('/api/v2/ssh-keys/sshkey-2bQx7VnKd9RtYpLc') },
});

const SSH_KEYS = {
  name: 'SSH keys',
  description: 'Private keys with which workspaces download modules from Git repositories.',
};

const PEM = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----\n';

const refusals = { unprocessable: 'The name is blank or too long, or the value is not a private key.' };

export const sshKeysOperations = describeController(SshKeysController, SSH_KEYS, {
  list: {
    operationId: 'listSshKeys',
    summary: 'List the SSH keys of an organization',
    query: pageParameters(),
    answer: describePage('SshKey'),
  },
  create: {
    operationId: 'createSshKey',
    summary: 'Create an SSH key',
    description: 'The value is the text of the private key. The server stores it encrypted.',
    body: describeBody(createBody, { data: { type: 'ssh-keys', attributes: { name: 'deploy', value: PEM } } }),
    answer: describeDocument('SshKey'),
    refusals,
  },
  show: {
    operationId: 'getSshKey',
    summary: 'Show an SSH key without its text',
    answer: describeDocument('SshKey'),
  },
  update: {
    operationId: 'updateSshKey',
    summary: 'Rename an SSH key or replace its text',
    body: describeBody(updateBody, { data: { type: 'ssh-keys', attributes: { name: 'deploy-2' } } }),
    answer: describeDocument('SshKey'),
    refusals,
    events: ['SshKeyRenamed', 'SshKeyReplaced'],
  },
  destroy: {
    operationId: 'deleteSshKey',
    summary: 'Delete an SSH key',
    description: 'Workspaces that use the key lose it.',
    answer: describeEmpty(),
  },
});
