import { unprocessable } from '#platform/kernel';

/** Destinations that receive HTTP requests. */
const URL_DESTINATION_TYPES = ['generic', 'slack', 'microsoft-teams'] as const;
export type UrlDestinationType = (typeof URL_DESTINATION_TYPES)[number];

export const DESTINATION_TYPES = [...URL_DESTINATION_TYPES, 'email'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

/** Where requests are sent to. Both are secrets: the URL of a Slack or Teams webhook lets everybody post there. */
export type Destination = {
  readonly url: string;
  /** The key of the signature; null for unsigned requests. */
  readonly token: string | null;
};

export const MAX_URL_CHARACTERS = 2_048;
export const MAX_TOKEN_CHARACTERS = 1_024;

/** Every mail server accepts this number of recipients of a message (RFC 5321 section 4.5.3.1.8). */
export const MAX_MAIL_RECIPIENTS = 100;

/**
 * The host of deliveries by e-mail. No URL has it. All of them share the limit of a host, so that a slow mail server
 * occupies only a few of the requests.
 */
export const MAIL_HOST = 'email:';

/** Returns the host of the URL. Throws 422, without the URL in the message, if requests cannot be sent to it. */
export const parseHost = (url: string): string => {
  if (url.trim() === '') throw unprocessable("Url can't be blank", 'url');
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw unprocessable('Url must be an address that begins with https:// or http://', 'url');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw unprocessable('Url must not contain a user name or a password', 'url');
  }
  return parsed.hostname;
};

/** Throws 422 for a token that no request would be signed with. */
export const checkToken = (token: string | null | undefined, type: DestinationType): void => {
  if (token && type !== 'generic') {
    throw unprocessable(`Token is only for destination-type generic, not for ${type}`, 'token');
  }
};

const USERS_POINTER = '/data/relationships/users';

/** Throws 422 for people that no e-mail would be sent to, or for a URL that no request would be sent to. */
export const checkDestinationMembers = (
  { url, users }: { readonly url: string | undefined; readonly users: readonly string[] | undefined },
  type: DestinationType,
): void => {
  if (type === 'email' && url) {
    const others = URL_DESTINATION_TYPES.join(', ');
    throw unprocessable(`Url is only for destination-type ${others}, not for email`, 'url');
  }
  if (type !== 'email' && users && users.length > 0) {
    throw unprocessable(`Users is only for destination-type email, not for ${type}`, USERS_POINTER);
  }
};

/** Throws 422 that names the first of the users who is not among the active members of the organization. */
export const checkActiveMembers = (users: readonly string[], members: readonly string[]): void => {
  const index = users.findIndex((user) => !members.includes(user));
  if (index === -1) return;
  throw unprocessable(
    `Users must be active members of the organization, got ${users[index]}`,
    `${USERS_POINTER}/data/${index}/id`,
  );
};

/** Throws 422 if there are more users than a message can have recipients. */
export const checkRecipientLimit = (users: readonly string[]): void => {
  if (users.length <= MAX_MAIL_RECIPIENTS) return;
  throw unprocessable(`Users must be at most ${MAX_MAIL_RECIPIENTS}, got ${users.length}`, USERS_POINTER);
};
