import { isSecureAddress, unprocessable } from '#platform/kernel';

/** `key`: null for a connection with an access token. */
type ConnectionAddresses = { readonly apiUrl: string; readonly httpUrl: string; readonly key: string | null };

export const checkAddress = (attribute: 'api-url' | 'http-url', label: string, url: string): void => {
  if (isSecureAddress(url)) return;
  throw unprocessable(
    `${label} must be an address that begins with https://, without user, password, query and fragment, got ${JSON.stringify(url)}`,
    attribute,
  );
};

/**
 * Throws 422 if a token that the server of `http-url` grants to a person would be sent to another server. People who store
 * an access token choose the server that gets it, so connections without a key can have any server.
 */
export const checkApiServer = ({ apiUrl, httpUrl, key }: ConnectionAddresses): void => {
  if (key === null || !isSecureAddress(apiUrl) || !isSecureAddress(httpUrl)) return;
  const { origin, host } = new URL(httpUrl);
  // GitHub's own servers, also those with data residency. GitHub Enterprise Server has its API at the address of its pages.
  const isGithubCloud = host === 'github.com' || host.endsWith('.ghe.com');
  const accepted = isGithubCloud ? `https://api.${host}` : origin;
  if (new URL(apiUrl).origin === accepted) return;
  throw unprocessable(`Api url must be an address of ${accepted}, because its server gets the token`, 'api-url');
};
