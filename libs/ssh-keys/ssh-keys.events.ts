import { z } from 'zod';
import { defineEvents, type EventKinds, updateSubject } from '#kernel';
import { inOrganization } from '#access/rules';
import type { SshKeyEvent } from './ssh-key.js';

const keyName = z.strictObject({ name: z.string() });
const meta = ({ name }: { readonly name: string }) => ({ name });

export const sshKeyEvents = defineEvents(
  { topic: 'ssh-keys', stream: 'sshkey', audited: 'ssh_key', live: inOrganization('ssh-keys', 'read-ssh-keys') },
  {
    SshKeyCreated: { schema: keyName, audit: { action: 'create', meta }, live: 'created' },
    SshKeyRenamed: {
      schema: keyName,
      audit: { action: 'update', meta: ({ name }) => ({ change: 'name', name }) },
      live: 'changed',
    },
    SshKeyReplaced: {
      schema: z.strictObject({}),
      audit: { action: 'update', meta: () => ({ change: 'value' }) },
      live: 'changed',
    },
    SshKeyDeleted: {
      schema: keyName,
      audit: { action: 'destroy', meta },
      live: 'deleted',
      history: (_, { stream }, lookup) => lookup.usersOf(stream).flatMap((id) => updateSubject(id, { sshKey: null })),
    },
  },
) satisfies EventKinds<SshKeyEvent>;
