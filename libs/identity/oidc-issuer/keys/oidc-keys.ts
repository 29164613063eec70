import { z } from 'zod';
import { defineEvents, type Decider, type EventsOf, type Message } from '#platform/kernel';

/** The site has one issuer, so its keys share one stream. */
export const OIDC_KEYS_STREAM = 'oidc-site';

/** AWS, Google, Azure, Vault and Kubernetes all verify it. */
export const ALGORITHM = 'RS256';

/** An RSA public key as a JSON Web Key (RFC 7517). `kid` is the thumbprint of the key (RFC 7638). */
export const publicKeySchema = z.strictObject({
  kty: z.literal('RSA'),
  kid: z.string(),
  use: z.literal('sig'),
  alg: z.literal(ALGORITHM),
  n: z.string(),
  e: z.string(),
});
export type OidcPublicKey = z.infer<typeof publicKeySchema>;

const OF_SITE = { site: 'without-organization' } as const;

/**
 * The keys that sign the tokens with which runs authenticate at clouds. The newest key signs. Older keys stay published, so
 * that others can verify the tokens that they have signed, until an administrator trims them.
 */
export const oidcKeyEvents = defineEvents(
  {
    topic: 'access',
    stream: 'oidc',
    audited: 'oidc_key',
    live: { unsent: 'an event of the site' },
    notImported: 'the keys of the issuer belong to a site',
  },
  {
    OidcKeyRotated: {
      schema: z.strictObject({ key: publicKeySchema }),
      audit: { ...OF_SITE, action: 'rotate', meta: ({ key }) => ({ kid: key.kid }) },
    },
    OidcKeysTrimmed: {
      schema: z.strictObject({ kids: z.array(z.string()) }),
      audit: { ...OF_SITE, action: 'trim', meta: ({ kids }) => ({ kids }) },
    },
  },
);

export type OidcKeyEvent = EventsOf<typeof oidcKeyEvents>;

type OidcKeyCommand =
  | Message<'RotateKey', { key: OidcPublicKey }>
  /** Creates the first key. Yields nothing if the site has a key. */
  | Message<'EnsureKey', { key: OidcPublicKey }>
  | Message<'TrimKeys', Record<never, never>>;

/** The ids of the published keys, oldest first. */
type OidcKeysState = { readonly kids: readonly string[] };

export const oidcKeys: Decider<OidcKeysState, OidcKeyCommand, OidcKeyEvent> = {
  version: 1,
  initial: { kids: [] },
  decide: {
    RotateKey: ({ key }) => [{ type: 'OidcKeyRotated', data: { key } }],
    EnsureKey: ({ key }, { kids }) => (kids.length > 0 ? [] : [{ type: 'OidcKeyRotated', data: { key } }]),
    TrimKeys: (_, { kids }) =>
      kids.length < 2 ? [] : [{ type: 'OidcKeysTrimmed', data: { kids: kids.slice(0, -1) } }],
  },
  evolve: {
    OidcKeyRotated: ({ key }, { kids }) => ({ kids: [...kids, key.kid] }),
    OidcKeysTrimmed: ({ kids: trimmed }, { kids }) => ({ kids: kids.filter((kid) => !trimmed.includes(kid)) }),
  },
};
