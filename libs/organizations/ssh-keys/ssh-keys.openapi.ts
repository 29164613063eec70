import { defineResource, describeController, describeResourceBody, exampleText } from '#api/json-api/description';
import { createBody, SshKeysController, updateBody } from './ssh-keys.controller.js';

export const sshKeySchema = defineResource({
  name: 'SshKey',
  type: 'ssh-keys',
  description: 'A private key of an organization. No response contains its text.',
  noun: 'SSH key',
  exampleId: 'sshkey-2bQx7VnKd9RtYpLc',
  attributes: { name: exampleText('deploy') },
  hasSelfLink: true,
});

const SSH_KEYS = {
  name: 'SSH keys',
  description: 'Private keys with which workspaces download modules from Git repositories.',
  resource: sshKeySchema,
};

const PEM = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----\n';

const refusals = { unprocessable: 'The name is blank or too long, or the value is not a private key.' };

export const sshKeysOperations = describeController(SshKeysController, SSH_KEYS, {
  list: {},
  create: {
    description: 'The value is the text of the private key. The server stores it encrypted.',
    body: describeResourceBody(createBody, { name: 'deploy', value: PEM }),
    refusals,
  },
  show: { summary: 'Show an SSH key without its text' },
  update: {
    summary: 'Rename an SSH key or replace its text',
    body: describeResourceBody(updateBody, { name: 'deploy-2' }),
    refusals,
    events: ['SshKeyRenamed', 'SshKeyReplaced'],
  },
  destroy: { description: 'Workspaces that use the key lose it.' },
});
