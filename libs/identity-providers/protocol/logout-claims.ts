import { z } from 'zod';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const MAX_ID = 255;

const logoutToken = z
  .object({
    jti: z.string().min(1).max(MAX_ID),
    exp: z.number(),
    sid: z.string().min(1).max(MAX_ID).optional(),
    sub: z.string().min(1).max(MAX_ID).optional(),
    events: z.looseObject({ [EVENT]: z.object({}) }),
    // A token with a nonce is an ID token.
    nonce: z.undefined().optional(),
  })
  .refine(({ sid, sub }) => sid !== undefined || sub !== undefined);

/** What a provider has ended: one of its sessions, or all sessions of a person. `exp` in seconds. */
export type LogoutClaims = Pick<z.infer<typeof logoutToken>, 'jti' | 'exp' | 'sid' | 'sub'>;

/** Returns the claims of a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4); null if it is none. */
export const parseLogoutClaims = (payload: unknown): LogoutClaims | null => {
  const parsed = logoutToken.safeParse(payload);
  return parsed.success ? parsed.data : null;
};
