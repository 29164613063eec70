import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { cleanAnswer, isPermanentStatus, toMailFailure, type MailFailure } from './mail-errors.js';

/** A server that accepts messages for other servers. The operator names it, so its address may be private. */
export type MailServer = {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'off';
  readonly credentials: { readonly user: string; readonly password: string } | null;
  readonly from: { readonly name: string; readonly address: string };
  /** Milliseconds for one message to all its recipients. */
  readonly timeoutMs: number;
};

export type OutgoingMail = {
  /** With a domain and without brackets. The same one in each attempt. */
  readonly messageId: string;
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly date: Date;
  readonly headers: Readonly<Record<string, string>>;
};

type RefusedRecipient = {
  readonly address: string;
  readonly code: string;
  /** Contains no address. */
  readonly text: string;
  readonly isPermanent: boolean;
};

/** What became of a message. Recipients in neither list can get it in another attempt. */
export type MailOutcome = {
  readonly accepted: readonly string[];
  readonly refused: readonly RefusedRecipient[];
  /** Null if the server accepted the message for at least one recipient, or answered for each of them. */
  readonly failure: MailFailure | null;
};

/** Sends a message. Resolves to the outcome, also if the server is away. Rejects only if the caller aborts. */
export type Mailer = (mail: OutgoingMail, signal?: AbortSignal) => Promise<MailOutcome>;

/**
 * Local parts without quotes, comments and brackets, as RFC 5321 has them without quotes, and also letters of other
 * scripts (RFC 6531). Other addresses could mean several recipients.
 */
const LOCAL_PART = /^[\p{L}\p{N}\p{M}.!#$%&'*+/=?^_`{|}~-]{1,64}$/u;
/** Checked before the conversion, which drops line breaks. */
const UNICODE_DOMAIN = /^[\p{L}\p{N}\p{M}.-]{1,253}$/u;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the address with its domain in ASCII; null if no message can be sent to it. */
export const toMailAddress = (text: string): string | null => {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const unicodeDomain = text.slice(at + 1);
  if (at < 1 || !LOCAL_PART.test(local) || !UNICODE_DOMAIN.test(unicodeDomain)) return null;
  const domain = domainToASCII(unicodeDomain).toLowerCase();
  return domain.length <= 253 && DOMAIN.test(domain) && isIP(domain) === 0 ? `${local}@${domain}` : null;
};

const UNUSABLE = { code: '', text: 'The address cannot be used', isPermanent: true };

/** Loads `nodemailer` at the first message: a start of the server would otherwise load its modules. */
const prepareTransport = async ({ host, port, tls, credentials, timeoutMs }: MailServer) => {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // The content is text of callers: it must never name a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
};

/** What Nodemailer resolves to, and the part of its errors that lists recipients. */
type RecipientErrors = {
  readonly rejectedErrors?:
    | readonly {
        readonly recipient?: string | undefined;
        readonly responseCode?: number | undefined;
        readonly response?: string | undefined;
      }[]
    | undefined;
};

const listRefused = ({ rejectedErrors = [] }: RecipientErrors): readonly RefusedRecipient[] =>
  rejectedErrors.map(({ recipient = '', responseCode = 0, response = '' }) => ({
    address: recipient,
    code: String(responseCode || ''),
    text: cleanAnswer(response),
    isPermanent: isPermanentStatus(responseCode),
  }));

/**
 * Returns a function that sends messages over a connection of their own. All recipients get one message, and none of them
 * sees the others. Without TLS nothing is sent, unless the settings say so.
 */
export const createMailer = (server: MailServer): Mailer => {
  let prepared: ReturnType<typeof prepareTransport> | null = null;
  const { name, address: sender } = server.from;
  return async ({ recipients, headers, ...mail }, signal) => {
    const usable = new Map(recipients.map((address) => [toMailAddress(address), address]));
    usable.delete(null);
    const unusable = recipients.filter((address) => toMailAddress(address) === null);
    const refusedBefore = unusable.map((address) => ({ ...UNUSABLE, address }));
    if (usable.size === 0) return { accepted: [], refused: refusedBefore, failure: null };
    const restore = (address: string): string => usable.get(address) ?? address;
    const restoreAll = (errors: RecipientErrors) =>
      listRefused(errors).map((refused) => ({ ...refused, address: restore(refused.address) }));
    const transport = await (prepared ??= prepareTransport(server));
    // Servers that answer slowly for ever keep a connection active, so the limit is for the whole message.
    const limit = AbortSignal.timeout(server.timeoutMs);
    try {
      const sent = await transport.sendMail({
        ...mail,
        from: { name, address: sender },
        to: 'undisclosed-recipients:;',
        envelope: {
          from: { name: '', address: sender },
          to: [...usable.keys()].map((to) => ({ name: '', address: to ?? '' })),
        },
        headers,
        xMailer: false,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      const refused = [...refusedBefore, ...restoreAll(sent)];
      return { accepted: sent.accepted.map(restore), refused, failure: null };
    } catch (error) {
      signal?.throwIfAborted();
      const refused = restoreAll(error as RecipientErrors);
      const failure = refused.length > 0 ? null : toMailFailure(error);
      return { accepted: [], refused: [...refusedBefore, ...refused], failure };
    }
  };
};
