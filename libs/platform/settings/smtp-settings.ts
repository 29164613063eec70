import type { z } from 'zod';
import type { EnvironmentValues } from './secret-files.js';
import { parseMailbox, smtpVariables, type Mailbox } from './smtp-variables.js';
import { parseUrl } from './variable-schemas.js';
import type { environment } from './variables.js';

type SmtpEnvironment = z.output<typeof environment>;

/** The mail server that sends notifications. */
export type SmtpSettings = {
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the start; `starttls`: required before anything else is sent; `off`: unencrypted. */
  readonly tls: 'implicit' | 'starttls' | 'off';
  /** Null for a server without authentication. */
  readonly credentials: { readonly user: string; readonly password: string } | null;
  readonly from: Mailbox;
  /** Milliseconds for one message. */
  readonly timeoutMs: number;
};

const SMTP_URL = 'CADASTRE_SMTP_URL';
const SMTP_FROM = 'CADASTRE_SMTP_FROM';
const SMTP_TLS = 'CADASTRE_SMTP_TLS';

/** Returns one line for each setting of the mail server that contradicts another one. */
export const findSmtpContradictions = (env: EnvironmentValues): readonly string[] => {
  const url = env[SMTP_URL];
  if (!url) {
    return Object.keys(smtpVariables)
      .filter((name) => env[name])
      .map((name) => `${name}: set, but ${SMTP_URL} is missing`);
  }
  return [
    ...(env[SMTP_FROM] ? [] : [`${SMTP_FROM}: missing, ${SMTP_URL} needs it`]),
    ...(env[SMTP_TLS] === 'off' && url.startsWith('smtps:')
      ? [`${SMTP_TLS}: off, but ${SMTP_URL} begins with smtps://; use smtp://, or remove ${SMTP_TLS}`]
      : []),
  ];
};

const DEFAULT_PORTS = { implicit: 465, starttls: 587, off: 587 };

/** Returns null if the settings describe no mail server. The settings must contain no contradictions. */
export const toSmtpSettings = (env: SmtpEnvironment): SmtpSettings | null => {
  const url = parseUrl(env.CADASTRE_SMTP_URL ?? '');
  const from = parseMailbox(env.CADASTRE_SMTP_FROM ?? '');
  if (!url || !from) return null;
  const withTls = url.protocol === 'smtps:' ? 'implicit' : 'starttls';
  const tls = env.CADASTRE_SMTP_TLS === 'off' ? 'off' : withTls;
  return {
    host: url.hostname.replaceAll(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORTS[tls] : Number(url.port),
    tls,
    credentials:
      url.username === ''
        ? null
        : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
    from,
    timeoutMs: env.CADASTRE_SMTP_TIMEOUT_SECONDS * 1_000,
  };
};
