import { isSecureAddress, unprocessable } from '#platform/kernel';
import { ProviderFault } from '../protocol/provider-fault.js';
import { createProviderFetch, PROVIDER_TIMEOUT_MS } from '../protocol/provider-fetch.http.js';
import { readProviderMetadata, type ProviderMetadataValues } from './provider-metadata.js';
import { readXml } from './xml-elements.reader.js';

/** Metadata that an administrator sends, or the address of the provider's metadata. */
export type MetadataSource = {
  readonly metadata?: string | null | undefined;
  readonly metadataUrl?: string | null | undefined;
};

/** Files of metadata often have some. Nobody signs what is read here, so they cannot hide anything. */
const COMMENTS = /<!--[\s\S]*?-->/g;

const fetchMetadata = createProviderFetch(PROVIDER_TIMEOUT_MS);

const download = async (url: string): Promise<string> => {
  if (!isSecureAddress(url.replace(/\?.*$/, ''))) {
    throw unprocessable(
      'metadata-url: must be https:// with a host; http:// only for a loopback address',
      'metadata-url',
    );
  }
  const headers = { accept: 'application/samlmetadata+xml, application/xml, text/xml' };
  const signal = AbortSignal.timeout(PROVIDER_TIMEOUT_MS);
  const response = await fetchMetadata(url, { method: 'GET', headers, body: null, signal });
  if (response.status !== 200) throw new ProviderFault('invalid', `the address answered with ${response.status}`);
  return response.text();
};

/** Returns what the metadata say; null without metadata. Throws `unprocessable` if they cannot be used. */
export const readMetadataSource = async ({
  metadata,
  metadataUrl,
}: MetadataSource): Promise<ProviderMetadataValues | null> => {
  const attribute = metadata ? 'metadata' : 'metadata-url';
  try {
    const xml = metadata || (metadataUrl ? await download(metadataUrl) : null);
    return xml === null ? null : readProviderMetadata(readXml(xml.replaceAll(COMMENTS, '')).root);
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    throw unprocessable(`${attribute}: must be the SAML metadata of an identity provider: ${error.message}`, attribute);
  }
};
