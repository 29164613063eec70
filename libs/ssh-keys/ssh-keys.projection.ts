import { sql, type Projection, type OrganizationDeleted } from '#kernel';
import { buildSecretDeletion } from '#vault';
import type { SshKeyEvent } from './ssh-key.js';

export const sshKeys: Projection<SshKeyEvent | OrganizationDeleted> = {
  name: 'ssh_keys',
  version: 1,
  tables: ['ssh_keys'],
  on: {
    SshKeyCreated: ({ name }, { stream, organization, time }) => sql`
      insert into ssh_keys (id, organization, name, created_at) values (${stream}, ${organization}, ${name}, ${time})`,
    SshKeyRenamed: ({ name }, { stream }) => sql`update ssh_keys set name = ${name} where id = ${stream}`,
    SshKeyReplaced: null,
    SshKeyDeleted: (_, { stream }) => sql`delete from ssh_keys where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ssh_keys where organization = ${stream}`,
  },
};

/** Deletes the private key from the vault. `tables` is empty, because the vault is not a view. */
export const sshKeySecrets: Projection<Extract<SshKeyEvent, { type: 'SshKeyDeleted' }>> = {
  name: 'ssh_key_secrets',
  tables: [],
  on: { SshKeyDeleted: (_, { stream }) => buildSecretDeletion(sql`${stream}`) },
};
