import { isHostOrAddress, isHostName } from './host-names.js';
import { defineSecretVariable, matchingSchema, oneOfSchema, parseUrl, wholeNumberSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

const MAX_SENDER = 320;

/** A line break in a user name or password would end the command of SMTP that contains it. */
const isCredential = (encoded: string): boolean => {
  try {
    return !/\p{C}/u.test(decodeURIComponent(encoded));
  } catch {
    return false;
  }
};

const isSmtpUrl = (text: string): boolean => {
  const url = parseUrl(text);
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol)) return false;
  const { username, password, hostname, pathname, search, hash } = url;
  if (!isHostOrAddress(hostname.replaceAll(/^\[|\]$/g, ''))) return false;
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') return false;
  return (username === '') === (password === '') && isCredential(username) && isCredential(password);
};

export type Mailbox = { readonly name: string; readonly address: string };

const LOCAL_PART = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/;

/** Parses `Name <address>` or an address. Returns null for other texts. */
export const parseMailbox = (text: string): Mailbox | null => {
  if (text.length > MAX_SENDER || /[\p{C}"\\]/u.test(text)) return null;
  const [, name = '', inBrackets, alone] = /^(?:([^<>]*)<([^<>]*)>|([^<>]*))$/.exec(text.trim()) ?? [];
  const address = inBrackets ?? alone ?? '';
  const at = address.lastIndexOf('@');
  return at > 0 && LOCAL_PART.test(address.slice(0, at)) && isHostName(address.slice(at + 1))
    ? { name: name.trim(), address }
    : null;
};

/** Variables that describe the mail server that sends notifications. */
export const smtpVariables = {
  CADASTRE_SMTP_URL: defineSecretVariable(
    '–',
    'smtps://USER:PASSWORD@HOST:PORT or smtp://… of the mail server that sends notifications by e-mail; percent-encode user ' +
      'and password. Default ports: 465 for smtps (TLS from the start), 587 for smtp (STARTTLS)',
    matchingSchema(
      isSmtpUrl,
      'must be smtp:// or smtps:// with a host, both or neither of user and password, and no path or query',
    ).exactOptional(),
  ),
  CADASTRE_SMTP_FROM: defineVariable(
    '–',
    'sender of e-mails, such as Cadastre <cadastre@example.com>; required with CADASTRE_SMTP_URL',
    matchingSchema(
      (text) => parseMailbox(text) !== null,
      'must be an address such as cadastre@example.com or Cadastre <cadastre@example.com>',
    ).exactOptional(),
  ),
  CADASTRE_SMTP_TLS: defineVariable(
    'required',
    'required: nothing is sent without TLS and a trusted certificate; off: e-mails and the password are sent unencrypted, for a ' +
      'mail server on the same machine',
    oneOfSchema(['required', 'off'], 'required'),
  ),
  CADASTRE_SMTP_TIMEOUT_SECONDS: defineVariable(
    '20',
    'time for one e-mail to all its recipients, in seconds',
    wholeNumberSchema(1, 25, 20),
  ),
} as const;
