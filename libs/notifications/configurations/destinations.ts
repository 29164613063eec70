import { unprocessable } from '#kernel';

/** Destinations that receive HTTP requests. The server sends no e-mail. */
export const DESTINATION_TYPES = ['generic', 'slack', 'microsoft-teams'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

/** Where notifications are sent to. Both are secrets: the URL of a Slack or Teams webhook lets everybody post there. */
export type Destination = {
  readonly url: string;
  /** The key of the signature; null for unsigned requests. */
  readonly token: string | null;
};

export const MAX_URL_CHARACTERS = 2_048;
export const MAX_TOKEN_CHARACTERS = 1_024;

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
