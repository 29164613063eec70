import { checkName, conflict, requireActive, unprocessable, type Decider, type Message } from '#kernel';

/**
 * A private key of an organization, under a name. Its text lies in the vault under the key's id: no event, no state and
 * no document ever holds it.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export type SshKeyEvent =
  | Message<'SshKeyCreated', { name: string }>
  | Message<'SshKeyRenamed', { name: string }>
  /** Another text took the place of the one before. */
  | Message<'SshKeyReplaced', Record<never, never>>
  | Message<'SshKeyDeleted', { name: string }>;

export type SshKeyCommand =
  | Message<'CreateSshKey', { name: string }>
  | Message<'UpdateSshKey', { name: string | undefined; replaced: boolean }>
  | Message<'DeleteSshKey', Record<never, never>>;

type ActiveSshKey = { readonly status: 'active'; readonly name: string };
export type SshKeyState = { readonly status: 'absent' | 'deleted' } | ActiveSshKey;

const NAME_RULE = { most: 255 };

/** PEM of another kind, and how public keys begin (RFC 4253 §6.6, RFC 4716). */
const PEM = /^-----BEGIN ([A-Z0-9 ]+)-----/;
const PUBLIC = /^(?:(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+ |---- BEGIN SSH2 PUBLIC KEY ----)/;

/**
 * Refuses what is surely no private key, above all its public half, which is so easily taken for it. Not more: clients
 * bring keys in other formats, and the vendor takes any text.
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
