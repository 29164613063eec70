import { z } from 'zod';
import { unprocessable } from '#kernel';
import { PROTOCOLS, type Protocol } from './rules.js';

const MANIFEST = z.object({
  version: z.literal(1),
  metadata: z.object({ protocol_versions: z.array(z.string()).min(1) }),
});

/** Minor versions only add: what counts is the major one (the plugin protocol's rule), so 5.1 is told of as 5.0. */
const parseProtocol = (text: string): Protocol => {
  const major = /^(\d+)(?:\.\d+)?$/.exec(text)?.[1];
  const protocol = PROTOCOLS.find((known) => known === `${major}.0`);
  if (!protocol) throw unprocessable(`The manifest names the protocol ${text}; known are ${PROTOCOLS.join(', ')}`);
  return protocol;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw unprocessable('The manifest is not JSON');
  }
};

/** The protocols that a release manifest names, each once, lowest first. */
export const readManifest = (text: string): readonly Protocol[] => {
  const { success, data } = MANIFEST.safeParse(parseJson(text));
  if (!success) {
    throw unprocessable('The manifest is not like {"version":1,"metadata":{"protocol_versions":["5.0"]}}');
  }
  const named = new Set(data.metadata.protocol_versions.map(parseProtocol));
  return PROTOCOLS.filter((protocol) => named.has(protocol));
};
