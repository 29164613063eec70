import { z } from 'zod';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const MAX_ID = 255;

const logoutToken = z
  .object({
    jti: z.string().min(1).max(MAX_ID),
    sid: z.string().min(1).max(MAX_ID).optional(),
    sub: z.string().min(1).max(MAX_ID).optional(),
    events: z.looseObject({ [EVENT]: z.object({}) }),
    // A token with a nonce is an ID token.
    nonce: z.undefined().optional(),
  })
  .refine(({ sid, sub }) => sid !== undefined || sub !== undefined);

/** What a provider has ended: one of its sessions, or all sessions of a person. */
export type LogoutClaims = Pick<z.infer<typeof logoutToken>, 'jti' | 'sid' | 'sub'>;

/** Media types of a logout token. Providers of earlier drafts send `JWT` or none (§2.4). */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'logout+jwt', 'application/logout+jwt'];

/** Returns whether a token with this `typ` in its header can be a logout token. Media types have no case (RFC 7515 §4.1.9). */
export const isLogoutType = (typ: unknown): boolean =>
  TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ);

/** Returns the claims of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4); null if it is none. */
export const parseLogoutClaims = (payload: unknown): LogoutClaims | null => {
  const parsed = logoutToken.safeParse(payload);
  return parsed.success ? parsed.data : null;
};
