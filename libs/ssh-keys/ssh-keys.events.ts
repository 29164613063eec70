import { z } from 'zod';
import type { EventKinds } from '#kernel';
import type { SshKeyEvent } from './ssh-key.js';

const keyName = z.strictObject({ name: z.string() });
const meta = ({ name }: { readonly name: string }) => ({ name });

export const sshKeyEvents: EventKinds<SshKeyEvent> = {
  SshKeyCreated: {
    schemaVersion: 1,
    topic: 'ssh-keys',
    schema: keyName,
    audit: { resource: 'ssh_key', action: 'create', meta },
  },
  SshKeyRenamed: {
    schemaVersion: 1,
    topic: 'ssh-keys',
    schema: keyName,
    audit: { resource: 'ssh_key', action: 'update', meta: ({ name }) => ({ change: 'name', name }) },
  },
  SshKeyReplaced: {
    schemaVersion: 1,
    topic: 'ssh-keys',
    schema: z.strictObject({}),
    audit: { resource: 'ssh_key', action: 'update', meta: () => ({ change: 'value' }) },
  },
  SshKeyDeleted: {
    schemaVersion: 1,
    topic: 'ssh-keys',
    schema: keyName,
    audit: { resource: 'ssh_key', action: 'destroy', meta },
  },
};
