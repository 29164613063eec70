import { z } from 'zod';
import { defineEvents, type EventKinds, type Message } from '#kernel';
import { READS } from '#access/rules';

/** Recorded reads of SSH keys. */
export type SshKeyRead =
  | Message<'SshKeysListed', { organization: string; count: number }>
  | Message<'SshKeyShown', { key: string; name: string }>;

export const sshKeyReads = defineEvents(
  { ...READS, audited: 'ssh_key' },
  {
    SshKeysListed: {
      schema: z.strictObject({ organization: z.string(), count: z.int() }),
      audit: { action: 'index', id: ({ organization }) => organization, meta: ({ count }) => ({ count }) },
      ids: { refersTo: { organization: ['org'] } },
    },
    SshKeyShown: {
      schema: z.strictObject({ key: z.string(), name: z.string() }),
      audit: { action: 'show', id: ({ key }) => key, meta: ({ name }) => ({ name }) },
      ids: { refersTo: { key: ['sshkey'] } },
    },
  },
) satisfies EventKinds<SshKeyRead>;
