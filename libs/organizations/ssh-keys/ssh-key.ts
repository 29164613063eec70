import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  requireActive,
  unprocessable,
  updateSubject,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization, READS } from '#api/access/rules';

const keyName = z.strictObject({ name: z.string() });
const meta = ({ name }: { readonly name: string }) => ({ name });

/**
 * A private key of an organization, with a name. The vault stores its text under the key's id. No event, state or
 * document contains the text.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const sshKeyEvents = defineEvents(
  { topic: 'ssh-keys', stream: 'sshkey', audited: 'ssh_key', live: inOrganization('ssh-keys', 'read-ssh-keys') },
  {
    SshKeyCreated: { schema: keyName, audit: { action: 'create', meta }, live: 'created' },
    SshKeyRenamed: {
      schema: keyName,
      audit: { action: 'update', meta: ({ name }) => ({ change: 'name', name }) },
      live: 'changed',
    },
    /** A new private key replaces the previous one. */
    SshKeyReplaced: {
      schema: z.strictObject({}),
      audit: { action: 'update', meta: () => ({ change: 'value' }) },
      live: 'changed',
    },
    SshKeyDeleted: {
      schema: keyName,
      audit: { action: 'destroy', meta },
      live: 'deleted',
      history: (_, { stream }, lookup) =>
        lookup.listWorkspacesUsing(stream).flatMap((id) => updateSubject(id, { sshKey: null })),
    },
  },
);

export type SshKeyEvent = EventsOf<typeof sshKeyEvents>;

/** Recorded reads. */
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
);

export type SshKeyRead = EventsOf<typeof sshKeyReads>;

export type SshKeyCommand =
  | Message<'CreateSshKey', { name: string }>
  | Message<'UpdateSshKey', { name: string | undefined; replaced: boolean }>
  | Message<'DeleteSshKey', Record<never, never>>;

type ActiveSshKey = { readonly status: 'active'; readonly name: string };
type SshKeyState = { readonly status: 'absent' | 'deleted' } | ActiveSshKey;

const NAME_RULE = { most: 255 };

/** PEM of other kinds of keys, and the first characters of public keys (RFC 4253 §6.6, RFC 4716). */
const PEM = /^-----BEGIN ([A-Z0-9 ]+)-----/;
const PUBLIC = /^(?:(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ |---- BEGIN SSH2 PUBLIC KEY ----)/;

/**
 * Refuses texts that are certainly not a private key, above all public keys, which are easily confused with them.
 * Accepts everything else: clients use other formats too, and the vendor accepts any text.
 */
export const checkPrivateKey = (text: string): void => {
  const key = text.trim();
  if (key === '') throw unprocessable("Value can't be blank", 'value');
  const label = PEM.exec(key)?.[1];
  if (PUBLIC.test(key) || label?.endsWith('PUBLIC KEY')) {
    throw unprocessable('Value is a public key; it must be the private one', 'value');
  }
  if (label !== undefined && !label.endsWith('PRIVATE KEY')) {
    throw unprocessable('Value must be a private key', 'value');
  }
};

export const sshKey: Decider<SshKeyState, SshKeyCommand, SshKeyEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateSshKey: ({ name }, state) => {
      if (state.status !== 'absent') throw conflict('SSH key exists already');
      checkName(name, NAME_RULE);
      return [{ type: 'SshKeyCreated', data: { name } }];
    },
    UpdateSshKey: ({ name, replaced }, state) => {
      const before = requireActive(state);
      if (name !== undefined) checkName(name, NAME_RULE);
      return [
        ...(name === undefined || name === before.name ? [] : [{ type: 'SshKeyRenamed', data: { name } } as const]),
        ...(replaced ? [{ type: 'SshKeyReplaced', data: {} } as const] : []),
      ];
    },
    DeleteSshKey: (_, state) => [{ type: 'SshKeyDeleted', data: { name: requireActive(state).name } }],
  },
  evolve: {
    SshKeyCreated: ({ name }) => ({ status: 'active', name }),
    SshKeyRenamed: ({ name }, state) => (state.status === 'active' ? { ...state, name } : state),
    SshKeyReplaced: (_, state) => state,
    SshKeyDeleted: () => ({ status: 'deleted' }),
  },
};
