import { checkName, conflict, requireActive, unprocessable, type Decider, type Message } from '#kernel';

/**
 * A private key of an organization, with a name. The vault stores its text under the key's id. No event, state or
 * document contains the text.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export type SshKeyEvent =
  | Message<'SshKeyCreated', { name: string }>
  | Message<'SshKeyRenamed', { name: string }>
  /** A new private key replaces the previous one. */
  | Message<'SshKeyReplaced', Record<never, never>>
  | Message<'SshKeyDeleted', { name: string }>;

export type SshKeyCommand =
  | Message<'CreateSshKey', { name: string }>
  | Message<'UpdateSshKey', { name: string | undefined; replaced: boolean }>
  | Message<'DeleteSshKey', Record<never, never>>;

type ActiveSshKey = { readonly status: 'active'; readonly name: string };
export type SshKeyState = { readonly status: 'absent' | 'deleted' } | ActiveSshKey;

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
