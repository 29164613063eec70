import { defineResource, exampleText, serverPath } from '#json-api/description';

export const sshKeySchema = defineResource({
  name: 'SshKey',
  type: 'ssh-keys',
  description: 'A private key of an organization. No response contains its text.',
  exampleId: 'sshkey-2bQx7VnKd9RtYpLc',
  attributes: { name: exampleText('deploy') },
  links: { self: serverPath('/api/v2/ssh-keys/sshkey-2bQx7VnKd9RtYpLc') },
});
