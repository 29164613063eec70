import { z } from 'zod';
import type { EventKinds, Message } from '#kernel';

/** Recorded reads of SSH keys. */
export type SshKeyRead =
  | Message<'SshKeysListed', { organization: string; count: number }>
  | Message<'SshKeyShown', { key: string; name: string }>;

export const sshKeyReads: EventKinds<SshKeyRead> = {
  SshKeysListed: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ organization: z.string(), count: z.int() }),
    audit: {
      resource: 'ssh_key',
      action: 'index',
      id: ({ organization }) => organization,
      meta: ({ count }) => ({ count }),
    },
  },
  SshKeyShown: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ key: z.string(), name: z.string() }),
    audit: { resource: 'ssh_key', action: 'show', id: ({ key }) => key, meta: ({ name }) => ({ name }) },
  },
};
