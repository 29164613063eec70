import { z } from 'zod';

const text = (most: number) => z.string().max(most);

const returnTo = { return_to: text(2_000).optional() };
const passkeyAnswer = { token: text(4_000), response: text(60_000) };

/** The fields of the forms. A browser sends empty texts for empty fields. */
export const passwordForm = z.object({ ...returnTo, login: text(254), password: text(4_000) });
export const codeForm = z.object({ ...returnTo, code: text(100) });
export const passkeyForm = z.object({ ...returnTo, ...passkeyAnswer });
export const linkForm = z.object({ ...returnTo, secret: text(200) });
export const newPasswordForm = z.object({ password: text(4_000) });
export const totpForm = z.object({ token: text(2_000), code: text(100) });
export const newPasskeyForm = z.object({ ...passkeyAnswer, name: text(100) });
export const passkeyNameForm = z.object({ name: text(100) });
