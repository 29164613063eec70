import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { PROTOCOLS, type Protocol } from './rules.js';

const MANIFEST = z.object({
  version: z.literal(1),
  metadata: z.object({ protocol_versions: z.array(z.string()).min(1) }),
});

/**
 * Returns the protocol of a version such as 5.1. Minor versions only add to the protocol (rule of the plugin protocol),
 * so 5.1 counts as 5.0.
 */
const parseProtocol = (text: string): Protocol => {
  const major = /^(\d+)(?:\.\d+)?$/.exec(text)?.[1];
  const protocol = PROTOCOLS.find((supported) => supported === `${major}.0`);
  if (!protocol)
    throw unprocessable(`The manifest names the protocol ${text}, which must be one of ${PROTOCOLS.join(', ')}`);
  return protocol;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw unprocessable('The manifest is not JSON');
  }
};

/** Returns the protocols that a release manifest names, without duplicates, lowest first. */
export const readManifest = (text: string): readonly Protocol[] => {
  const { success, data } = MANIFEST.safeParse(parseJson(text));
  if (!success) {
    throw unprocessable('The manifest is not like {"version":1,"metadata":{"protocol_versions":["5.0"]}}');
  }
  const protocols = new Set(data.metadata.protocol_versions.map(parseProtocol));
  return PROTOCOLS.filter((protocol) => protocols.has(protocol));
};
