/** Returns a domain for ids of messages, which names the site and has only characters that such ids may have. */
export const toMessageDomain = (publicUrl: string): string =>
  new URL(publicUrl).hostname.replaceAll(/[^a-z0-9.-]/gi, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'localhost';
