import { getErrorCode } from '#platform/kernel';

/** Why a message could not be given to the mail server at all, or `refused` if the server answered. */
type MailFailureReason = 'timeout' | 'untrusted-certificate' | 'no-tls' | 'credentials' | 'unreachable' | 'refused';

/** Texts for callers of the API: they name no host, because the mail server is a setting of the operator. */
const DESCRIPTIONS: Readonly<Record<Exclude<MailFailureReason, 'refused'>, string>> = {
  timeout: 'The mail server did not answer in time',
  'untrusted-certificate':
    'The mail server has a certificate that this server does not trust (NODE_EXTRA_CA_CERTS names further authorities)',
  'no-tls': 'The mail server offers no TLS, and CADASTRE_SMTP_TLS=required',
  credentials: 'The mail server refused the user or the password in CADASTRE_SMTP_URL',
  unreachable: 'The mail server could not be reached',
};

type ErrorOfNodemailer = Error & { readonly responseCode?: number; readonly originalCode?: string };

const CERTIFICATE_CODE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

const findReason = (error: ErrorOfNodemailer): MailFailureReason => {
  const code = getErrorCode(error) ?? '';
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'credentials';
  if (error.name === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'EABORT') return 'timeout';
  if (CERTIFICATE_CODE.test(error.originalCode ?? code)) return 'untrusted-certificate';
  if (code === 'ETLS') return 'no-tls';
  return error.responseCode === undefined ? 'unreachable' : 'refused';
};

export type MailFailure = {
  /** The status of SMTP; empty if the server gave none. */
  readonly code: string;
  readonly reason: MailFailureReason;
  /** Contains no address, host or password. For `refused`, the answer of the server without addresses. */
  readonly text: string;
  /** Whether the server refused the message itself for good. */
  readonly isPermanent: boolean;
};

const MAX_ANSWER_CHARACTERS = 200;

/** Returns the answer of a mail server without addresses, which servers repeat, on one line. */
export const cleanAnswer = (answer: string): string => {
  const text = answer
    .replaceAll(/[^\s<>]*@[^\s<>]*/g, '[address]')
    .replaceAll(/\p{C}+/gu, ' ')
    .trim();
  return text.length > MAX_ANSWER_CHARACTERS ? `${text.slice(0, MAX_ANSWER_CHARACTERS)}…` : text;
};

/** Returns the failure behind an error of Nodemailer. */
export const toMailFailure = (error: unknown): MailFailure => {
  if (!(error instanceof Error)) throw error;
  const failure = error as ErrorOfNodemailer & { readonly response?: string; readonly command?: string };
  const reason = findReason(failure);
  const code = failure.responseCode === undefined ? '' : String(failure.responseCode);
  return {
    code,
    reason,
    text: reason === 'refused' ? cleanAnswer(failure.response ?? '') : DESCRIPTIONS[reason],
    // A sender or login that is refused is a mistake in a setting, which the operator can correct.
    isPermanent: reason === 'refused' && failure.command === 'DATA' && isPermanentStatus(failure.responseCode ?? 0),
  };
};

/** 5xx statuses are permanent (RFC 5321 section 4.2.1), except 503, which is about the order of commands. */
export const isPermanentStatus = (status: number): boolean => status >= 500 && status !== 503;
