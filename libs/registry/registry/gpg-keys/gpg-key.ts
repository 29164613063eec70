import { conflict, requireActive, type Decider, type Message } from '#platform/kernel';

/**
 * A public key with which an organization signs its providers. `keyId` identifies the key in the organization: 16
 * upper-case hex digits. The armored text is public, so the log may contain it.
 *
 *   absent ──add──► active ──remove──► deleted
 *
 * A renewal replaces the text of the key by a later copy, for example a copy with a later expiry.
 */
export type GpgKeyEvent =
  | Message<'GpgKeyAdded', { keyId: string; asciiArmor: string }>
  | Message<'GpgKeyRenewed', { keyId: string; asciiArmor: string }>
  | Message<'GpgKeyRemoved', { keyId: string }>;

type GpgKeyCommand =
  | Message<'AddGpgKey', { keyId: string; asciiArmor: string }>
  | Message<'RenewGpgKey', { asciiArmor: string }>
  | Message<'RemoveGpgKey', Record<never, never>>;

type ActiveGpgKey = { readonly status: 'active'; readonly keyId: string };
type GpgKeyState = { readonly status: 'absent' | 'deleted' } | ActiveGpgKey;

export const gpgKey: Decider<GpgKeyState, GpgKeyCommand, GpgKeyEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    AddGpgKey: ({ keyId, asciiArmor }, state) => {
      if (state.status !== 'absent') throw conflict('GPG key exists already');
      return [{ type: 'GpgKeyAdded', data: { keyId, asciiArmor } }];
    },
    RenewGpgKey: ({ asciiArmor }, state) => [
      { type: 'GpgKeyRenewed', data: { keyId: requireActive(state).keyId, asciiArmor } },
    ],
    RemoveGpgKey: (_, state) => [{ type: 'GpgKeyRemoved', data: { keyId: requireActive(state).keyId } }],
  },
  evolve: {
    GpgKeyAdded: ({ keyId }) => ({ status: 'active', keyId }),
    GpgKeyRenewed: (_, state) => state,
    GpgKeyRemoved: () => ({ status: 'deleted' }),
  },
};
